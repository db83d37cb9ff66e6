// The four ways in which PyTorch computes attention.  Each takes q (B, H, S, D), k and v (B, K, T, D) of one type and a
// mask that was made a bias already, allocates what the kernel's host code allocates, and records the backward.
// torch: aten/src/ATen/native/transformers (2.11.0)
#pragma once
#include "ops/ops.h"
#include "tensor/kernel.h"

namespace tidemark {

enum class AttentionBackend { cudnn, flash, efficient, math };

struct AttentionInputs {
  Tensor q, k, v, mask;
  AttentionOptions options;
};

/// What PyTorch would take.  torch: cuda/sdp_utils.cpp, select_sdp_backend
AttentionBackend attention_backend(const AttentionInputs& inputs);

/// What a kernel gives, in the order of its results; `random_state` are the numbers that dropout goes by.
struct AttentionResult {
  Tensor output, log_sum_exp = {};
  Tensors random_state = {};
};

/// What a backward kernel takes; `mask` is no part of it, as none needs a gradient.
struct AttentionGradient {
  const Tensor &gradient, &q, &k, &v, &output;
  bool dropout = false;
};

// The kernels by themselves, of which nothing is recorded: aten::_scaled_dot_product_cudnn_attention, … and their
// _backward.  `with_log_sum_exp`: compute_log_sumexp.
AttentionResult cudnn_attention_forward(const AttentionInputs& inputs, bool with_log_sum_exp);
AttentionResult flash_attention_forward(const AttentionInputs& inputs);
AttentionResult efficient_attention_forward(const AttentionInputs& inputs, bool with_log_sum_exp);
/// The gradients of q, k and v.
std::array<Tensor, 3> cudnn_attention_backward(const AttentionGradient& call);
std::array<Tensor, 3> flash_attention_backward(const AttentionGradient& call);
std::array<Tensor, 3> efficient_attention_backward(const AttentionGradient& call);

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

/// Of the gradients those that are needed.
inline Tensors needed(const Backward& call, std::array<Tensor, 3> gradients) {
  Tensors result;
  for (std::size_t i = 0; i < gradients.size(); ++i)
    result.push_back(call.needs(i) ? std::move(gradients[i]) : Tensor());
  return result;
}

/// Of the recorded kernels; facts.b of a backward is 1 for causal attention.
inline void count_attention(const AttentionInputs& in) {
  if (Work* work = in.q.run().counted()) work->add_attention(in.q, in.k, in.v, in.options.causal, false);
}
/// The operator that is recorded, by its name: `forward()`.
template <class Forward>
AttentionResult run_attention(const char* name, const AttentionInputs& in, Forward&& forward) {
  Kernel kernel(in.q.run(), name);
  count_attention(in);
  AttentionResult result = forward();
  const Tensor none;
  const std::size_t states = result.random_state.size();
  kernel.gives({&result.output, &result.log_sum_exp, states > 0 ? &result.random_state[0] : &none,
                states > 1 ? &result.random_state[1] : &none});
  return result;
}
inline void count_attention_backward(const Backward& call) {
  if (Work* work = call.run.counted())
    work->add_attention(call.saved[0], call.saved[1], call.saved[2], call.facts.b == 1, true);
}

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
