// Pairs of real numbers as complex ones.  torch: aten/src/ATen/native/ComplexHelper.h
#pragma once
#include "tensor/tensor.h"

namespace tidemark {

/// Pairs along the last dimension, as one complex number each: the same memory.
Tensor view_as_complex(Tensor x);
/// Complex numbers as pairs along a last dimension.
Tensor view_as_real(Tensor x);
/// Complex numbers of these lengths and angles.
Tensor polar(Tensor lengths, Tensor angles);

}  // namespace tidemark
