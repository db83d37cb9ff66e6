// A model that can be trained: its modules, its forward, and what it takes.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nn/context.h"
#include "nn/module.h"
#include "ops/chunked_logprob.h"

namespace tidemark {

/// The keyword arguments of the model's forward; what a model does not take stays empty.
struct Batch {
  Tensor input_ids, attention_mask, labels, pixel_values, image_grid_thw, mm_token_type_ids;
  Tensor position_ids, shift_labels;  // of models that take positions; labels of the next tokens
  Dims grid;                          // what every row of image_grid_thw holds, as the host reads it
  std::vector<Tensor> others;         // that no member is for, in the order of BatchSizes
  /// KTOTrainer's samples with another's completion, and whether each sample's own completion is desirable.
  Tensor kl_input_ids, kl_attention_mask, kl_labels, desirable;
  std::int64_t scored_tokens = 0;  // of each sample, that its labels leave to a fused head; 0: all
};

/// transformers' ModelOutput: it keeps all its members alive until the training loop lets it go.
struct ModelOutputs {
  Tensor loss;
  std::vector<Tensor> held;   // its other tensors, in their order
  std::vector<Tensor> cache;  // of past_key_values, an object that is no part of it to who looks for tensors
  /// Of a fused head, in the place of logits.
  struct Tokens {
    Tensor log_probs, entropy, mean_logits, is_top1, label_mask;
  };
  Tokens tokens = {};
};

/// Of a sample where nobody says, as far as the model takes so many.
inline constexpr std::int64_t kUsualTokens = 2048;

/// What the data is like, as asked for.
struct Data {
  std::int64_t batch = 1, seq = 0, images = 0;     // seq 0: kUsualTokens
  std::int64_t image_height = 0, image_width = 0;  // 0: the model's own
  std::optional<std::int64_t> image_tokens;
  bool labels = true;
  std::int64_t target = 0;   // tokens of a label, of an encoder-decoder model (0: as many as seq)
  double audio_seconds = 0;  // of a sample (0: the program's own)
};

/// Sizes and types of one batch; an entry without sizes is not made.
struct BatchSizes {
  std::optional<Dims> input_ids, attention_mask, labels, pixel_values;
  bool pixels_first = false;  // as a processor of images alone puts them
  std::optional<Dims> image_grid_thw = {}, mm_token_type_ids = {};
  Dims grid = {};  // of every image: frames, rows and columns of patches
  /// What a captured program takes besides: sounds, masks of images, …  Without a type they are as pixels.
  struct Other {
    Dims sizes;
    std::optional<Dtype> dtype;
  };
  std::vector<Other> others = {};
  std::vector<std::string> assumptions = {};        // for the report
  std::vector<std::string> first_assumptions = {};  // that move the peak
};

/// Where a model may be cut: its layers take and give hidden states (B, S, D), and so does the rest of its forward
/// where nn.Identity stands for what comes before and behind them.
struct Stack {
  std::vector<Module*> before;  // embeddings, towers
  Module* layers = nullptr;     // an nn.ModuleList
  std::vector<Module*> behind;  // the last norm, the head
  std::int64_t features = 0;    // D
};

/// Some of the layers, and what comes before the first and behind the last one.
struct Part {
  std::size_t first_layer = 0, layers = 0;
  bool is_first = true, is_last = true;
};

struct Model {
  Module root;
  std::function<ModelOutputs(const Batch&)> forward;
  /// The same with a fused head (nn/fused_head.h); none where it is not known what comes before the head.
  std::function<ModelOutputs(const Batch&, const ScoreKinds&)> fused_forward = {};
  /// The forward pass of one more token of each sample, `tokens` with those before it, whose keys and values are
  /// `cache`; none but of a model that generates.
  std::function<ModelOutputs(const Batch&, std::int64_t tokens, std::vector<Tensor> cache)> decode = {};
  /// Throws Error{bad_value} for data that the model does not take.
  std::function<BatchSizes(const Data&)> batch_sizes;
  std::optional<Stack> stack = {};     // none where it is not one
  std::function<void()> was_cut = {};  // told when a part alone is left of it
  /// Whether its forward is given the places of tokens, so that these need not be all of a sample.
  bool takes_positions = false;
};

/// Leaves of a model that has a stack that part alone, before it gets to a device.
void keep_part(Model& model, const Part& part);

}  // namespace tidemark
