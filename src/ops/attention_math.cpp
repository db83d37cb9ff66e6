// Attention from ordinary operations, in float32.
// torch: aten/src/ATen/native/transformers/attention.cpp, _scaled_dot_product_attention_math (2.11.0)
#include "ops/attention.h"

namespace tidemark {
namespace {

/// torch: SoftMax.cpp, _safe_softmax: rows of which every entry is minus infinity become zeros, in place.
Tensor safe_softmax(Tensor x) {
  const Op op(x, "aten::_safe_softmax");
  Tensor y = empty(x.run(), x.sizes(), x.dtype());
  {
    const Tensor masked = empty_like(x, Dtype::boolean);
    Dims rows = x.sizes();
    rows[-1] = 1;
    const Tensor masked_rows = empty(x.run(), rows, Dtype::boolean);
    const Tensor zero = empty(x.run(), Dims{}, x.dtype());
  }
  Tensors saved{alias(y)};
  return record(std::move(y), {std::move(x)},
                {.name = "SafeSoftmaxBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   Tensor gradient = empty(call.run, call.gradient().sizes(), call.gradient().dtype());
                   const Tensor product = mul(call.gradient(), call.saved[0]);  // SoftMax.cu, softmax_backward_cuda_out
                   const Tensor copy = contiguous(product);
                   return {std::move(gradient)};
                 }});
}

/// torch: pre_process_group_query_attention_input
Tensor repeat_heads(Tensor x, std::int64_t heads) {
  if (x.size(1) == heads) return x;
  const std::int64_t b = x.size(0), k = x.size(1), s = x.size(2), d = x.size(3);
  x = expand(unsqueeze(std::move(x), 2), {b, k, heads / k, s, d});
  return view(clone(std::move(x)), {b, heads, s, d});
}

/// The lower triangle as a bias.
Tensor causal_bias(Run& run, std::int64_t queries, std::int64_t keys, Dtype dtype) {
  Tensor lower;
  {
    const Tensor ones = empty(run, Dims{queries, keys}, Dtype::boolean);
    lower = empty_like(ones);
  }
  return attention_bias(std::move(lower), dtype);
}

}  // namespace

Tensor math_attention(AttentionInputs in) {
  Run& run = in.q.run();
  const Dtype origin = in.q.dtype();
  const bool half = size_of(origin) == 2;
  const Setting<bool> autocast(run.autocast.enabled, false);
  Tensor bias = attention_bias(std::move(in.mask), origin);
  const Tensor query_acc = half ? to(in.q, Dtype::f32) : in.q, key_acc = half ? to(in.k, Dtype::f32) : in.k,
               value_acc = half ? to(in.v, Dtype::f32) : in.v;
  const Tensor query = mul_scalar(query_acc);
  if (in.options.causal) bias = causal_bias(run, in.q.size(2), in.k.size(2), query.dtype());
  const Tensor key = in.options.enable_gqa ? repeat_heads(key_acc, in.q.size(1)) : key_acc;
  const Tensor value = in.options.enable_gqa ? repeat_heads(value_acc, in.q.size(1)) : value_acc;
  Tensor attention = matmul(query, mul_scalar(transpose(key, -2, -1)));
  if (bias) attention = has_dispatch_mode(run) ? add(attention, bias) : add_(std::move(attention), bias);
  attention = safe_softmax(std::move(attention));
  attention = dropout(std::move(attention), in.options.dropout);
  const Tensor weights = to(attention, origin);
  return to(matmul(attention, value), origin);
}

}  // namespace tidemark
