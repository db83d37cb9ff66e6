// Losses that compare two tensors of the same sizes, element by element; and of texts that have no places in what is
// heard.
#pragma once
#include <optional>
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
/// Over the last dimension; `result` is log_softmax's dtype argument.
Tensor log_softmax(Tensor x, std::optional<Dtype> result = {});
/// x (steps, samples, labels) of log-probabilities, the targets of all samples, as many of each, in one row.
Tensor ctc_loss(Tensor x, Tensor targets, Tensor target_lengths, LossReduction reduction, bool zero_infinity);

}  // namespace tidemark
