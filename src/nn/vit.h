// What towers of images are made of: transformers' models/*/modeling_*.py.
#pragma once
#include "nn/layers.h"

namespace tidemark {

/// nn.Conv2d or Conv3d with a stride that equals its kernel.
Module& add_patch_convolution(Module& parent, std::string_view name, std::int64_t in, std::int64_t out,
                              const Dims& kernel, bool bias);

/// BaseModelOutputWithPooling
struct VisionOutputs {
  Tensor last_hidden_state, pooler_output;
};

}  // namespace tidemark
