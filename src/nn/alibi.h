// Attention with linear biases: https://arxiv.org/abs/2108.12409
#pragma once
#include "ops/ops.h"

namespace tidemark {

/// transformers: models/bloom/modeling_bloom.py, build_alibi_tensor (5.17.0): attention_mask (B, S) -> (B * H, 1, S)
Tensor build_alibi_tensor(const Tensor& attention_mask, std::int64_t num_heads, Dtype dtype);

}  // namespace tidemark
