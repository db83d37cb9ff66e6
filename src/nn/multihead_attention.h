// torch.nn.MultiheadAttention where keys are values, as the pooling of SigLIP has it.
#pragma once
#include <functional>

#include "ops/ops.h"

namespace tidemark {

struct MultiheadResult {
  Tensor output, weights;  // (T, B, D), and means over the heads (B, T, S)
};

/// query (T, B, D), key (S, B, D).  torch: nn.functional.multi_head_attention_forward with need_weights
MultiheadResult multi_head_attention_forward(Tensor query, Tensor key, const Tensor& weight, const Tensor& bias,
                                             std::int64_t heads, const std::function<Tensor(Tensor)>& out_proj);

}  // namespace tidemark
