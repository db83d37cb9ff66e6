// torch.einsum of one or two tensors.
#pragma once
#include <string_view>

#include "tensor/tensor.h"

namespace tidemark {

/// "bij,bjk->bik"; `...` stands for the dimensions that have no letter.
Tensor einsum(std::string_view equation, Tensors operands);
/// How many dimensions it works with: those of the result and those that are summed over.
int einsum_dims(std::string_view equation, const Tensors& operands);

}  // namespace tidemark
