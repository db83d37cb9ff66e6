// What DeepSpeed puts in the place of torch.nn.functional.linear: memory_efficient_linear.
#pragma once
#include "ops/ops.h"

namespace tidemark {

/// zero3_linear_wrap of deepspeed/runtime/zero/linear.py (0.19.8): an autograd.Function that keeps the weight by
/// itself, not a view of it, so that its memory can be let go of.
Tensor zero3_linear(Tensor x, Tensor weight, Tensor bias);

}  // namespace tidemark
