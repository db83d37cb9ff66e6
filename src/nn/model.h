// A model that can be trained: its modules, its forward, and what it takes.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nn/context.h"
#include "nn/module.h"

namespace tidemark {

/// The keyword arguments of the model's forward; what a model does not take stays empty.
struct Batch {
  Tensor input_ids, attention_mask, labels, pixel_values, image_grid_thw, mm_token_type_ids;
  Dims grid;  // what every row of image_grid_thw holds, as the host reads it
};

/// transformers' ModelOutput: it keeps all its members alive until the training loop lets it go.
struct ModelOutputs {
  Tensor loss;
  std::vector<Tensor> held;   // its other tensors, in their order
  std::vector<Tensor> cache;  // of past_key_values, an object that is no part of it to who looks for tensors
};

/// What the data is like, as asked for.
struct Data {
  std::int64_t batch = 1, seq = 0, images = 0;
  std::int64_t image_height = 0, image_width = 0;  // 0: the model's own
  std::optional<std::int64_t> image_tokens;
  bool labels = true;
};

/// Sizes and types of one batch; an entry without sizes is not made.
struct BatchSizes {
  std::optional<Dims> input_ids, attention_mask, labels, pixel_values;
  bool pixels_first = false;  // as a processor of images alone puts them
  std::optional<Dims> image_grid_thw = {}, mm_token_type_ids = {};
  Dims grid = {};                             // of every image: frames, rows and columns of patches
  std::vector<std::string> assumptions = {};  // for the report
};

struct Model {
  Module root;
  std::function<ModelOutputs(const Batch&)> forward;
  /// Throws Error{bad_value} for data that the model does not take.
  std::function<BatchSizes(const Data&)> batch_sizes;
};

}  // namespace tidemark
