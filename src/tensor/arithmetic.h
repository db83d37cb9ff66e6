// What the engine itself does to gradients; nothing is recorded.
#pragma once
#include "tensor/tensor.h"

namespace tidemark {

/// A new tensor for a + b.
Tensor plain_add(Tensor a, Tensor b);
/// Marks all dimensions.
Dims every_dimension(const Tensor& tensor);
Dims every_dimension_but(const Tensor& tensor, int kept);
/// Sums the dimensions that `reduced` marks with 1, with the scratch memory of the kernel.
Tensor plain_sum(Tensor tensor, const Dims& reduced, bool keep_dims, Dtype dtype);
/// That scratch memory alone, of a sum in `dtype`, or of so many `numbers` for each; of whole numbers it is not what
/// their conversion takes.
void use_reduction_scratch(const Tensor& tensor, const Dims& reduced, Dtype dtype, std::int64_t numbers = 1);
/// at::sum_to: sums over what was broadcast.
Tensor plain_sum_to(Tensor tensor, const Dims& sizes);
Tensor plain_cast(Tensor tensor, Dtype dtype);

}  // namespace tidemark
