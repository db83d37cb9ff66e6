// torch.nn.functional.multi_head_attention_forward where keys are values: as the pooling of SigLIP has it, and WavLM's
// attention.
#pragma once
#include <functional>

#include "ops/ops.h"

namespace tidemark {

struct MultiheadArguments {
  Tensor query, key;  // (T, B, D), (S, B, D)
  Tensor weight;      // of queries, keys and values at once (3 D, D); none where they are apart
  Tensor q_weight, k_weight, v_weight;
  Tensor bias;              // (3 D)
  Tensor key_padding_mask;  // bool (B, S), or none
  Tensor attn_mask;         // floating (B * heads, T, S), or none
  std::int64_t heads = 1;
  double dropout = 0;  // 0 where it is not trained
  std::function<Tensor(Tensor)> out_proj;
};

struct MultiheadResult {
  Tensor output, weights;  // (T, B, D), and means over the heads (B, T, S)
};

/// With need_weights.  torch: torch/nn/functional.py, multi_head_attention_forward (2.11.0, and 2.13.0, which lets go
/// of more)
MultiheadResult multi_head_attention_forward(const MultiheadArguments& given);

}  // namespace tidemark
