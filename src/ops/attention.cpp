// Fused attention: which kernel PyTorch takes on a card, and what it allocates.  torch:
// aten/src/ATen/native/transformers/{attention.cpp,cuda/{attention,attention_backward}.cu,cuda/sdp_utils.cpp}
#include "ops/ops.h"

namespace tidemark {
namespace {

/// cuDNN's fused attention.
Tensor cudnn_attention(Tensor q, Tensor k, Tensor v) {
  Run& run = q.run();
  Tensor seed = empty(run, Dims{}, Dtype::int64), offset = empty(run, Dims{}, Dtype::int64);
  Layout layout{q.sizes(), {}};
  layout.sizes[-1] = v.size(-1);
  const std::int64_t b = q.size(0), h = q.size(1), s = q.size(2), d = v.size(-1);
  layout.strides = Dims{s * h * d, d, h * d, 1};
  (void)b;
  Tensor y = empty(run, layout, q.dtype());
  Tensor log_sum_exp = empty(run, Dims{b, h, s, 1}, Dtype::f32);
  { const Tensor workspace = empty(run, Dims{1}, Dtype::uint8); }
  Tensors saved{q, k, v, alias(y), log_sum_exp, seed, offset};
  return record(std::move(y), {std::move(q), std::move(k), std::move(v)},
                {.name = "ScaledDotProductCudnnAttentionBackward0", .saved = std::move(saved),
                 .backward = [](Backward& call) -> Tensors {
                   Tensor dq = empty_like(call.saved[0]), dk = empty_like(call.saved[1]), dv = empty_like(call.saved[2]);
                   const Dims& size = call.saved[0].sizes();
                   const Tensor workspace =
                       empty(call.run, Dims{size[0] * size[1] * size[2] * (64 + 1) * 4 + 512}, Dtype::uint8);
                   return {dq, dk, dv};
                 }});
}

}  // namespace

Tensor scaled_dot_product_attention(Tensor q, Tensor k, Tensor v, Tensor mask, const AttentionOptions&) {
  const Op op(q, "aten::scaled_dot_product_attention");
  q = autocast_low(std::move(q));
  k = autocast_low(std::move(k));
  v = autocast_low(std::move(v));
  mask.reset();
  return cudnn_attention(std::move(q), std::move(k), std::move(v));
}

}  // namespace tidemark
