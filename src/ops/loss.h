// Losses that compare two tensors of the same sizes, element by element.
#pragma once
#include <string_view>

#include "tensor/tensor.h"

namespace tidemark {

enum class LossReduction { none, mean, sum };

/// "none", "mean" or "sum".  Throws Error{unsupported} for any other.
LossReduction loss_reduction(std::string_view name);

Tensor mse_loss(Tensor x, Tensor target, LossReduction reduction);
Tensor smooth_l1_loss(Tensor x, Tensor target, LossReduction reduction);
Tensor l1_loss(Tensor x, Tensor target, LossReduction reduction);
/// Of targets that need no gradient.
Tensor binary_cross_entropy_with_logits(Tensor x, Tensor target, LossReduction reduction);

}  // namespace tidemark
