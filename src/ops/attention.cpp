// Fused attention: which kernel PyTorch takes on a card.
// torch: aten/src/ATen/native/transformers/{attention.cpp,cuda/sdp_utils.cpp} (2.11.0)
#include "ops/attention.h"

#include <cmath>

#include "base/error.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

bool is_half(Dtype dtype) { return dtype == Dtype::f16 || dtype == Dtype::bf16; }

bool same_type(const AttentionInputs& in) { return in.q.dtype() == in.k.dtype() && in.q.dtype() == in.v.dtype(); }

bool last_stride_is_1(const AttentionInputs& in) {
  return in.q.layout().strides[-1] == 1 && in.k.layout().strides[-1] == 1 && in.v.layout().strides[-1] == 1 &&
         (!in.mask || in.mask.layout().strides[-1] == 1);
}

/// torch: check_batch_size_and_num_heads_dense
bool heads_fit(const AttentionInputs& in, bool supports_groups) {
  if (in.q.size(0) != in.k.size(0) || in.q.size(0) != in.v.size(0)) return false;
  const bool of_one = in.q.run().torch().one_head_is_for_all && in.k.size(1) == 1 && in.v.size(1) == 1;
  if ((in.options.enable_gqa || of_one) && supports_groups)
    return in.k.size(1) == in.v.size(1) && in.k.size(1) > 0 && in.q.size(1) % in.k.size(1) == 0;
  return in.q.size(1) == in.k.size(1) && in.q.size(1) == in.v.size(1);
}

/// torch: check_attn_mask_shape
bool mask_fits(const AttentionInputs& in) {
  if (!in.mask) return true;
  if (in.mask.requires_grad()) return false;
  const auto fits = [&](int d, std::int64_t size) { return in.mask.size(d) == size || in.mask.size(d) == 1; };
  if (!fits(-2, in.q.size(2)) || !fits(-1, in.k.size(2))) return false;
  return in.mask.dims() == 2 || (in.mask.dims() == 4 && fits(0, in.q.size(0)) && fits(1, in.q.size(1)));
}

/// torch: check_cudnn_tensor_shapes; check_cudnn_d256_bprop_head_dim, where a gradient is needed
bool cudnn_takes_head_size(const AttentionInputs& in) {
  const TorchRules& rules = in.q.run().torch();
  const std::int64_t d = in.q.size(-1), d_value = in.v.size(-1);
  const bool special = d == 192 && d_value == 128;
  if (d % 8 != 0 || d_value % 8 != 0) return false;
  if (rules.cudnn_names_large_heads && attention_needs_grad(in) && (d > 128 || d_value > 128))
    return special || (d == 256 && d_value == 256);
  const bool to_256 = in.q.run().card().compute_capability_major == 9 || rules.cudnn_names_large_heads;
  const std::int64_t most = to_256 ? 256 : special ? 192 : 128;
  return d <= most && d_value <= most;
}

/// torch: check_prefer_cudnn_attention, can_use_cudnn_attention, check_cudnn_dropout
bool can_use_cudnn(const AttentionInputs& in) {
  const TorchRules& rules = in.q.run().torch();
  const std::int64_t major = in.q.run().card().compute_capability_major;
  if (major != 9 && major != 10) return false;  // elsewhere it comes after math, which takes everything
  if (in.q.size(2) == 1 && (in.options.dropout != 0 || (major == 10 && rules.cudnn_does_not_decode))) return false;
  if (rules.cudnn_drops_sixteenths && std::fmod(in.options.dropout * 16, 1) != 0) return false;
  return is_half(in.q.dtype()) && same_type(in) && mask_fits(in) && last_stride_is_1(in) && heads_fit(in, true) &&
         cudnn_takes_head_size(in) && in.k.size(2) != 1;
}

/// torch: can_use_flash_attention
bool can_use_flash(const AttentionInputs& in) {
  const Card& card = in.q.run().card();
  const std::int64_t sm = card.compute_capability_major * 10 + card.compute_capability_minor, d = in.q.size(-1);
  if (sm < 80 || in.mask || !is_half(in.q.dtype()) || !same_type(in)) return false;
  if (d != in.k.size(-1) || d != in.v.size(-1) || d > 256) return false;
  const bool limited = (sm >= 86 && sm <= 89) || sm == 120 || sm == 121;
  if (limited && attention_needs_grad(in) && d > 192 && !(in.options.dropout == 0 && d > 224)) return false;
  if (in.options.causal && in.q.size(2) != in.k.size(2)) return false;
  return heads_fit(in, true) && (last_stride_is_1(in) || d == 1);
}

/// torch: can_use_mem_efficient_attention, minimum_gemm_alignment
bool can_use_efficient(const AttentionInputs& in) {
  const std::int64_t major = in.q.run().card().compute_capability_major;
  const bool half = is_half(in.q.dtype());
  if (!same_type(in) || in.q.dtype() == Dtype::f64 || (major < 8 && in.q.dtype() == Dtype::bf16)) return false;
  std::int64_t alignment = major >= 8 ? 4 : 1;
  if (major >= 8 || (major >= 7 && half)) alignment = std::max<std::int64_t>(alignment, half ? 8 : 4);
  const std::int64_t d = in.q.size(-1);
  return d == in.k.size(-1) && d % alignment == 0 && in.v.size(-1) % alignment == 0 && last_stride_is_1(in) &&
         heads_fit(in, in.q.run().torch().efficient_attention_groups_heads);
}

}  // namespace

bool attention_needs_grad(const AttentionInputs& in) {
  return needs_grad(in.q) || needs_grad(in.k) || needs_grad(in.v);
}

AttentionBackend attention_backend(const AttentionInputs& in) {
  const bool fusable =
      in.q.dims() == 4 && in.k.dims() == 4 && in.v.dims() == 4 && in.q.size(2) != 0 && in.k.size(2) != 0;
  if (fusable && can_use_cudnn(in)) return AttentionBackend::cudnn;
  if (fusable && can_use_flash(in)) return AttentionBackend::flash;
  if (fusable && can_use_efficient(in)) return AttentionBackend::efficient;
  return AttentionBackend::math;
}

Tensor contiguous_with_heads_last(const Tensor& x) {
  const Layout layout = with_heads_last(x.layout());
  return layout.is_contiguous() ? x : empty(x.run(), layout.sizes, x.dtype());
}

Tensor attention_bias(Tensor mask, Dtype dtype) {
  if (!mask || mask.dtype() != Dtype::boolean) return mask;
  // where(mask, 0.0, -inf): both numbers as tensors
  const Tensor zero = empty(mask.run(), Dims{}, dtype), minus_infinity = empty(mask.run(), Dims{}, dtype);
  const Layout* operand = &mask.layout();
  return empty(mask.run(), elementwise_layout({&operand, 1}), dtype);
}

Tensor scaled_dot_product_attention(Tensor q, Tensor k, Tensor v, Tensor mask, const AttentionOptions& options) {
  if (const auto& other = q.run().scaled_dot_product_attention)
    return other(std::move(q), std::move(k), std::move(v), std::move(mask), options);
  const Op op(q, "aten::scaled_dot_product_attention");
  const Tensor arguments[] = {q, k, v, mask};
  AttentionInputs in{.q = {}, .k = {}, .v = {}, .mask = {}, .options = options};
  // autocast_mode.h casts the arguments of one call, and GCC evaluates those from the last
  in.mask = autocast_low(std::move(mask));
  in.v = autocast_low(std::move(v));
  in.k = autocast_low(std::move(k));
  in.q = autocast_low(std::move(q));
  const AttentionInputs cast = in;  // the arguments and their casts are alive until the call returns
  const AttentionBackend backend = attention_backend(in);
  switch (backend) {
    case AttentionBackend::cudnn: return cudnn_attention(std::move(in));
    case AttentionBackend::flash: return padded_flash_attention(std::move(in));
    case AttentionBackend::efficient: return efficient_attention(std::move(in));
    case AttentionBackend::math: return math_attention(std::move(in));
  }
  return {};
}

}  // namespace tidemark
