// What DeepSpeed's optimizers ask about gradients before a step.  deepspeed/runtime/utils.py (0.19.8)
#pragma once
#include "train/optimizer.h"

namespace tidemark {

/// has_overflow_partitioned_grads_serial and has_overflow: whether any gradient is infinite or no number.
void check_overflow(Run& run, const TensorList& gradients);

/// has_inf_or_nan, asked of one gradient; nothing is left of it.
void check_inf_or_nan(const Tensor& gradient);

/// Of one gradient, in float64.
Tensor grad_norm(const Tensor& gradient);

/// get_grad_norm_direct of one group, over its first `count` gradients.
Tensor grad_norm_direct(Run& run, const TensorList& gradients, std::size_t count);

/// combine_grad_norm_groups
Tensor combine_grad_norm_groups(Tensor norm);

/// is_invalid_grad_norm: a look at the norm; nothing is left of it.
void check_grad_norm(const Tensor& norm);

/// unscale_and_clip_grads, with a clipping norm above 0.
void unscale_and_clip(const Tensor& norm);

}  // namespace tidemark
