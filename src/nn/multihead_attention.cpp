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

/// _in_projection: each with its own.
Projected in_projection(const MultiheadArguments& given) {
  const Tensors b = chunk(given.bias, 3, 0);
  Tensor q = linear(given.query, given.q_weight, b[0]), k = linear(given.key, given.k_weight, b[1]);
  return {std::move(q), std::move(k), linear(given.key, given.v_weight, b[2])};
}

/// _canonical_mask: what a bool says, as a number of the queries' type.
Tensor in_numbers(const Tensor& mask, Dtype dtype) {
  return mask ? masked_fill_(empty_like(mask, dtype), mask) : Tensor();
}

/// What is added to the scores: keys that are padding are so for every head.
Tensor merged_mask(const Tensor& padding, const Tensor& attn_mask, std::int64_t heads) {
  if (!padding) return attn_mask;
  const std::int64_t n = padding.size(0), s = padding.size(1);
  Tensor of_heads = reshape(expand(view(padding, {n, 1, 1, s}), {n, heads, 1, s}), {n * heads, 1, s});
  return attn_mask ? add(attn_mask, std::move(of_heads)) : of_heads;
}

}  // namespace

MultiheadResult multi_head_attention_forward(const MultiheadArguments& given) {
  const std::int64_t t = given.query.size(0), n = given.query.size(1), d = given.query.size(2), s = given.key.size(0);
  const Tensor padding = in_numbers(given.key_padding_mask, given.query.dtype());
  auto [q, k, v] =
      given.weight ? in_projection_packed(given.query, given.key, given.weight, given.bias) : in_projection(given);
  const auto by_head = [&](Tensor x, std::int64_t length) {
    return transpose(view(std::move(x), {length, n * given.heads, d / given.heads}), 0, 1);
  };
  q = by_head(std::move(q), t);
  k = by_head(std::move(k), s);
  v = by_head(std::move(v), s);
  const Tensor mask = merged_mask(padding, given.attn_mask, given.heads);
  const bool lets_go = given.query.run().torch().multi_head_attention_lets_go;
  Tensor q_scaled = mul_scalar(q);
  Tensor attn_output_weights =
      mask ? baddbmm(mask, q_scaled, transpose(k, -2, -1), 1) : bmm(q_scaled, transpose(k, -2, -1));
  if (lets_go) q_scaled = k = {};
  attn_output_weights = softmax(attn_output_weights);
  if (given.dropout > 0) attn_output_weights = dropout(attn_output_weights, given.dropout);
  Tensor attn_output = bmm(attn_output_weights, v);
  if (lets_go) v = {};
  attn_output = view(contiguous(transpose(std::move(attn_output), 0, 1)), {t * n, d});
  attn_output = view(given.out_proj(attn_output), {t, n, d});
  attn_output_weights = mean(view(attn_output_weights, {n, given.heads, t, s}), Dims{1}, false);
  return {attn_output, attn_output_weights};
}

}  // namespace tidemark
