// Convolutions of one to three dimensions.
#pragma once
#include "tensor/tensor.h"

namespace tidemark {

/// Of as many numbers as the kernel has dimensions.
struct ConvolutionShape {
  Dims stride, padding, dilation;
  std::int64_t groups = 1;
  bool transposed = false;  // the gradient of a convolution as a forward pass
  Dims output_padding = {};
};

/// x (N, C, …), weight (D, C / groups, kernel…), or (C, D, kernel…) where transposed -> (N, D, …)
Tensor convolution(Tensor x, Tensor weight, Tensor bias, const ConvolutionShape& shape);

}  // namespace tidemark
