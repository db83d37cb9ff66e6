// The four ways in which PyTorch computes attention.  Each takes q (B, H, S, D), k and v (B, K, T, D) of one type and a
// mask that was made a bias already, allocates what the kernel's host code allocates, and records the backward.
// torch: aten/src/ATen/native/transformers (2.11.0)
#pragma once
#include "ops/ops.h"

namespace tidemark {

enum class AttentionBackend { cudnn, flash, efficient, math };

struct AttentionInputs {
  Tensor q, k, v, mask;
  AttentionOptions options;
};

/// What PyTorch would take.  torch: cuda/sdp_utils.cpp, select_sdp_backend
AttentionBackend attention_backend(const AttentionInputs& inputs);

Tensor cudnn_attention(AttentionInputs inputs);
Tensor flash_attention(AttentionInputs inputs);
/// The same of heads of any size.
Tensor padded_flash_attention(AttentionInputs inputs);
Tensor efficient_attention(AttentionInputs inputs);
Tensor math_attention(AttentionInputs inputs);

/// Whether the backward will need the logarithms of the sums.  torch: attention.cpp, should_compute_logsumexp
bool attention_needs_grad(const AttentionInputs& inputs);
/// A boolean mask as a bias of zeros and minus infinities; any other as it is.  torch: convert_boolean_attn_mask
Tensor attention_bias(Tensor mask, Dtype dtype);

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
inline std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

/// A copy where (B, S, H, D) is not contiguous.
Tensor contiguous_with_heads_last(const Tensor& x);

/// q, k and v as the kernels see them: (B, S, H, D).
inline Layout with_heads_last(const Layout& layout) {
  Layout result = layout;
  result.sizes.swap(1, 2);
  result.strides.swap(1, 2);
  return result;
}

}  // namespace tidemark
