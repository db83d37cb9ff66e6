// torch/nn/utils/clip_grad.py (2.11.0)
#pragma once
#include <functional>

#include "train/optimizer.h"

namespace tidemark {

/// max_norm / (total_norm + 1e-6): reciprocal, then mul.
Tensor clip_coefficient(const Tensor& total_norm);

/// torch.nn.utils.clip_grad_norm_(trainable, max_norm): the norm, none where there is no gradient.  `reduce_norms`, if
/// any, makes of the norms of what this rank has those of the whole gradients.
Tensor clip_grad_norm(Optimizer& optimizer, const std::function<Tensor(Tensor norms)>& reduce_norms = {});

}  // namespace tidemark
