// torch.nn.MultiheadAttention where keys are values: the pooling of SigLIP.
#pragma once
#include "nn/layers.h"

namespace tidemark {

Module& add_multihead_attention(Module& parent, std::string_view name, std::int64_t features);
/// query (B, T, D), key (B, S, D), batch first -> (B, T, D).  torch: nn.functional.multi_head_attention_forward with
/// need_weights
Tensor multihead_attention(Module& m, Tensor query, Tensor key, std::int64_t heads);

}  // namespace tidemark
