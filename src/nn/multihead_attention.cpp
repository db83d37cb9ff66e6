#include "nn/multihead_attention.h"

#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

struct Projected {
  Tensor q, k, v;
};

/// Several projections at once: parts of the last dimension become `count` tensors in a row.
Tensor apart(Tensor projected, std::int64_t count) {
  const std::int64_t s = projected.size(0), n = projected.size(1), d = projected.size(2) / count;
  projected = unsqueeze(view(std::move(projected), {s, n, count, d}), 0);
  projected = squeeze(transpose(std::move(projected), 0, -2), -2);
  return contiguous(std::move(projected));
}

/// _in_projection_packed: all three at once of an attention to itself; else queries alone, keys and values at once.
Projected in_projection_packed(Tensor q, Tensor k, const Tensor& weight, const Tensor& bias) {
  const std::int64_t d = q.size(-1);
  if (q.is(k)) {
    const Tensor all = apart(linear(std::move(q), weight, bias), 3);
    return {select(all, 0, 0), select(all, 0, 1), select(all, 0, 2)};
  }
  const Tensors w = split_sizes(weight, {d, 2 * d}, 0), b = split_sizes(bias, {d, 2 * d}, 0);
  Tensor q_proj = linear(std::move(q), w[0], b[0]);
  const Tensor kv_proj = apart(linear(std::move(k), w[1], b[1]), 2);
  return {std::move(q_proj), select(kv_proj, 0, 0), select(kv_proj, 0, 1)};
}

}  // namespace

MultiheadResult multi_head_attention_forward(Tensor query, Tensor key, const Tensor& weight, const Tensor& bias,
                                             std::int64_t heads, const std::function<Tensor(Tensor)>& out_proj) {
  const std::int64_t t = query.size(0), n = query.size(1), d = query.size(2), s = key.size(0);
  auto [q, k, v] = in_projection_packed(query, key, weight, bias);
  const auto by_head = [&](Tensor x, std::int64_t length) {
    return transpose(view(std::move(x), {length, n * heads, d / heads}), 0, 1);
  };
  q = by_head(std::move(q), t);
  k = by_head(std::move(k), s);
  v = by_head(std::move(v), s);
  const bool lets_go = query.run().torch().multi_head_attention_lets_go;
  Tensor q_scaled = mul_scalar(q);
  Tensor attn_output_weights = bmm(q_scaled, transpose(k, -2, -1));
  if (lets_go) q_scaled = k = {};
  attn_output_weights = softmax(attn_output_weights);
  Tensor attn_output = bmm(attn_output_weights, v);
  if (lets_go) v = {};
  attn_output = view(contiguous(transpose(std::move(attn_output), 0, 1)), {t * n, d});
  attn_output = view(out_proj(attn_output), {t, n, d});
  attn_output_weights = mean(view(attn_output_weights, {n, heads, t, s}), 1, false);
  return {attn_output, attn_output_weights};
}

}  // namespace tidemark
