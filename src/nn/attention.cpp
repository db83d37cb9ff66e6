#include "nn/attention.h"

namespace tidemark {

Module& add_rotary(Module& parent, std::string_view name, std::int64_t head_dim) {
  return parent.add(name)
      .buffer("inv_freq", {head_dim / 2}, Dtype::f32)
      .buffer("original_inv_freq", {head_dim / 2}, Dtype::f32);
}

/// transformers: models/llama/modeling_llama.py, LlamaRotaryEmbedding.forward
Rotary rotary_embedding(Module& m, const Tensor& like, Tensor position_ids) {
  Run& run = like.run();
  const InModule scope(run, m);
  const NoGrad no_grad(run);
  const Tensor positions = std::move(position_ids);
  const Tensor inv_freq_expanded = expand(unsqueeze(unsqueeze(m("inv_freq"), 0), 2), {positions.size(0), -1, 1});
  const Tensor position_ids_expanded = to(unsqueeze(positions, 1), Dtype::f32);
  const Setting<bool> autocast(run.autocast.enabled, false);
  const Tensor freqs = transpose(matmul(inv_freq_expanded, position_ids_expanded), 1, 2);
  const Tensor emb = cat({freqs, freqs}, -1);
  const Tensor cosine = mul_scalar(cos(emb));
  const Tensor sine = mul_scalar(sin(emb));
  Tensor cos_as = to(cosine, like.dtype());
  return {std::move(cos_as), to(sine, like.dtype())};
}

Tensor rotate_half(Tensor x) {
  const std::int64_t width = x.size(-1);
  const Tensor x1 = slice(x, -1, 0, width / 2);
  const Tensor x2 = slice(x, -1, width / 2, width);
  return cat({neg(x2), x1}, -1);
}

std::pair<Tensor, Tensor> apply_rotary_pos_emb(Tensor q, Tensor k, const Rotary& rotary) {
  const Tensor query = std::move(q), key = std::move(k);
  const Tensor cos = unsqueeze(rotary.cos, 1), sin = unsqueeze(rotary.sin, 1);
  Tensor q_embed = add({mul(query, cos), mul(rotate_half(query), sin)});
  Tensor k_embed = add({mul(key, cos), mul(rotate_half(key), sin)});
  return {std::move(q_embed), std::move(k_embed)};
}

/// transformers: cache_utils.DynamicLayer.update: concatenates to an empty tensor, so the first update copies too.
DynamicCache::KeyValue DynamicCache::update(Tensor key, Tensor value, std::size_t layer) {
  if (!enabled) return {std::move(key), std::move(value)};
  const Tensor held_key = std::move(key), held_value = std::move(value);
  if (layers.size() <= layer) layers.resize(layer + 1);
  layers[layer].first = cat({held_key}, -2);
  layers[layer].second = cat({held_value}, -2);
  return layers[layer];
}

Tensor attention_interface(AttentionKind, Tensor query, Tensor key, Tensor value, Tensor mask, double dropout) {
  const Tensor q = std::move(query), k = std::move(key), v = std::move(value), m = std::move(mask);
  const AttentionOptions options{
      .causal = !m && q.size(2) > 1, .enable_gqa = k.size(1) != q.size(1), .dropout = dropout};
  return contiguous(transpose(scaled_dot_product_attention(q, k, v, m, options), 1, 2));
}

Tensor create_causal_mask(const Context&, const Tensor&, const Tensor& attention_mask) {
  Run& run = attention_mask.run();
  const Tensor padding = to(attention_mask, Dtype::boolean);
  // attention_mask.sum() == attention_mask.numel(), by way of int64
  const Op op(run, "aten::sum");
  const Tensor sum = empty(run, Dims{}, Dtype::int64);
  { const Tensor widened = empty_like(padding, Dtype::int64); }
  const Tensor equal = compare("aten::eq", sum);
  return {};
}

Tensor causal_lm_loss(Tensor logits, Tensor labels) {
  const Tensor argument = std::move(logits);
  Tensor upcast = to(argument, Dtype::f32);
  Tensor padded = pad(std::move(labels), 0, 1);
  Tensor shift_labels = contiguous(slice(padded, -1, 1, padded.size(-1)));
  const std::int64_t vocabulary = upcast.size(-1);
  upcast = view(std::move(upcast), {-1, vocabulary});
  shift_labels = view(std::move(shift_labels), {-1});
  return cross_entropy(upcast, shift_labels);
}

}  // namespace tidemark
