// What DeepSpeed's optimizers ask about gradients before a step, and Colossal-AI's Gemini as soon as they are reduced.
// deepspeed/runtime/utils.py (0.19.8), colossalai/zero/gemini/chunk/chunk.py (0.5.0)
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

/// The same as stage 3 does it, in float64: DeepSpeedZeroOptimizer_Stage3.get_grad_norm_direct.
Tensor grad_norm_of_parts(Run& run, const TensorList& gradients);

/// _constant_buffered_norm2: one piece after the other.
Tensor norm_in_pieces(const Tensor& gradient);

/// What of a group's norm is on the card when the optimizer is on the host; `total` goes with it.
void check_norm_on_host(Run& run, Tensor total);

/// combine_grad_norm_groups: the norm of the groups' norms.
Tensor combine_grad_norm_groups(const TensorList& norms);

/// is_invalid_grad_norm: a look at the norm; nothing is left of it.
void check_grad_norm(const Tensor& norm);

/// unscale_and_clip_grads, with a clipping norm above 0; stages 1 and 2 look at the norm first.
void unscale_and_clip(const Tensor& norm);

/// Chunk.has_inf_or_nan, added to a counter in place.
void count_overflow(const Tensor& gradient);

/// Chunk.set_l2_norm, which is kept on the host.
void chunk_l2_norm(const Tensor& gradient);

/// torch.isfinite: (x == x) * (abs(x) != inf)
Tensor is_finite(const Tensor& x);

}  // namespace tidemark
