// What Qwen2-VL is made of, and what it makes of images.
#pragma once
#include "zoo/qwen2_vl_vision.h"

namespace tidemark {

struct Qwen2Vl {
  Decoder decoder;
  Qwen2VlVisionConfig vision;
  Dims mrope_section;  // how half a head is shared among the three positions
  Context context, language_context;

  /// Of one image.
  std::int64_t tokens(const Dims& grid) const {
    return grid[0] * grid[1] * grid[2] / (vision.spatial_merge_size * vision.spatial_merge_size);
  }
};

/// Throws Error for what is not simulated (windows, other kinds of positions) and for sizes that do not go together.
Qwen2Vl read_qwen2_vl(const Value& config, const Context& context);

/// Text with images, as the processor makes it of images of one size.
BatchSizes qwen2_vl_batch(const Qwen2Vl& model, const Data& data);

}  // namespace tidemark
