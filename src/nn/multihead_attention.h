// torch.nn.MultiheadAttention where keys are values: the pooling of SigLIP.
#pragma once
#include <functional>

#include "nn/layers.h"

namespace tidemark {

struct MultiheadResult {
  Tensor output, weights;  // (T, B, D), and means over the heads (B, T, S)
};

/// query (T, B, D), key (S, B, D).  torch: nn.functional.multi_head_attention_forward with need_weights
MultiheadResult multi_head_attention_forward(Tensor query, Tensor key, const Tensor& weight, const Tensor& bias,
                                             std::int64_t heads, const std::function<Tensor(Tensor)>& out_proj);

Module& add_multihead_attention(Module& parent, std::string_view name, std::int64_t features);
/// query (B, T, D), key (B, S, D), batch first -> (B, T, D).
Tensor multihead_attention(Module& m, Tensor query, Tensor key, std::int64_t heads);

}  // namespace tidemark
