// Convolutions of one to three dimensions.
#pragma once
#include "tensor/tensor.h"

namespace tidemark {

/// Of as many numbers as the kernel has dimensions.
struct ConvolutionShape {
  Dims stride, padding, dilation;
  std::int64_t groups = 1;
};

/// x (N, C, …), weight (D, C / groups, kernel…) -> (N, D, …)
Tensor convolution(Tensor x, Tensor weight, Tensor bias, const ConvolutionShape& shape);

}  // namespace tidemark
