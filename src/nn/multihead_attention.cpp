#include "nn/multihead_attention.h"

namespace tidemark {
namespace {

struct Projected {
  Tensor q, k, v;
};

/// _in_projection_packed of an attention to something else: queries alone, keys and values at once.
Projected in_projection_packed(Module& m, Tensor q, Tensor k) {
  const std::int64_t d = q.size(-1);
  const Tensors w = split_sizes(m("in_proj_weight"), {d, 2 * d}, 0), b = split_sizes(m("in_proj_bias"), {d, 2 * d}, 0);
  Tensor q_proj = linear(std::move(q), w[0], b[0]);
  Tensor kv_proj = linear(std::move(k), w[1], b[1]);
  const std::int64_t s = kv_proj.size(0), n = kv_proj.size(1);
  kv_proj = unsqueeze(view(std::move(kv_proj), {s, n, 2, d}), 0);
  kv_proj = squeeze(transpose(std::move(kv_proj), 0, -2), -2);
  kv_proj = contiguous(std::move(kv_proj));
  return {std::move(q_proj), select(kv_proj, 0, 0), select(kv_proj, 0, 1)};
}

}  // namespace

Module& add_multihead_attention(Module& parent, std::string_view name, std::int64_t d) {
  Module& m = parent.add(name).parameter("in_proj_weight", {3 * d, d}).parameter("in_proj_bias", {3 * d});
  add_linear(m, "out_proj", d, d, true);
  return m;
}

Tensor multihead_attention(Module& m, Tensor query, Tensor key, std::int64_t heads) {
  const InModule scope(query.run(), m);
  const Tensor query_in = transpose(std::move(query), 1, 0), key_in = transpose(std::move(key), 1, 0);
  const std::int64_t t = query_in.size(0), n = query_in.size(1), d = query_in.size(2), s = key_in.size(0);
  auto [q, k, v] = in_projection_packed(m, query_in, key_in);
  const auto by_head = [&](Tensor x, std::int64_t length) {
    return transpose(view(std::move(x), {length, n * heads, d / heads}), 0, 1);
  };
  q = by_head(std::move(q), t);
  k = by_head(std::move(k), s);
  v = by_head(std::move(v), s);
  const Tensor q_scaled = mul_scalar(q);
  Tensor attn_output_weights = bmm(q_scaled, transpose(k, -2, -1));
  attn_output_weights = softmax(attn_output_weights);
  Tensor attn_output = bmm(attn_output_weights, v);
  attn_output = view(contiguous(transpose(std::move(attn_output), 0, 1)), {t * n, d});
  attn_output = view(m["out_proj"](attn_output), {t, n, d});
  attn_output_weights = mean(view(attn_output_weights, {n, heads, t, s}), 1, false);
  return transpose(attn_output, 1, 0);
}

}  // namespace tidemark
