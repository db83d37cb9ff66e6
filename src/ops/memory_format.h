// Results whose channels are last in memory because those of their operands are.
#pragma once
#include "tensor/tensor.h"

namespace tidemark {

/// Of a concatenation.  torch: native/TensorShape.cpp, cat_compute_output_memory_format (2.11.0)
Layout cat_layout(const Tensors& parts, const Dims& sizes);

}  // namespace tidemark
