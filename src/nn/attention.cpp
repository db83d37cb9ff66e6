#include "nn/attention.h"

namespace tidemark {

Module& add_rotary(Module& parent, std::string_view name, std::int64_t head_dim) {
  return parent.add(name)
      .buffer("inv_freq", {head_dim / 2}, Dtype::f32)
      .buffer("original_inv_freq", {head_dim / 2}, Dtype::f32);
}

/// transformers: models/llama/modeling_llama.py, LlamaRotaryEmbedding.forward
Rotary rotary_embedding(Module& m, const Tensor& like, Tensor position_ids, const RopeUpdate& update) {
  Run& run = like.run();
  const Call call(run, m);
  const NoGrad no_grad(run);
  const Tensor positions = std::move(position_ids);
  update_frequencies(m, update, positions);
  const Tensor expanded = expand(unsqueeze(unsqueeze(m("inv_freq"), 0), 2), {positions.size(0), -1, 1});
  const Tensor inv_freq_expanded = to(expanded, Dtype::f32);  // itself, where no strategy has cast buffers
  const Tensor position_ids_expanded = to(unsqueeze(positions, 1), Dtype::f32);
  const Setting<bool> autocast(run.autocast.enabled, false);
  const Tensor freqs = transpose(matmul(inv_freq_expanded, position_ids_expanded), 1, 2);
  const Tensor emb = cat({freqs, freqs}, -1);
  const Tensor cosine = mul_scalar(cos(emb));
  const Tensor sine = mul_scalar(sin(emb));
  Rotary rotary{to(cosine, like.dtype()), {}};
  rotary.sin = to(sine, like.dtype());
  call.returns(std::vector<Tensor*>{&rotary.cos, &rotary.sin});
  return rotary;
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

std::pair<Tensor, Tensor> apply_partial_rotary_pos_emb(const Tensor& q, const Tensor& k, const Rotary& rotary) {
  const Tensor cos = unsqueeze(rotary.cos, 1), sin = unsqueeze(rotary.sin, 1);
  const std::int64_t rotary_dim = cos.size(-1), head = q.size(-1);
  const Tensor q_rot = slice(q, -1, 0, rotary_dim), q_pass = slice(q, -1, rotary_dim, head);
  const Tensor k_rot = slice(k, -1, 0, rotary_dim), k_pass = slice(k, -1, rotary_dim, head);
  const auto rotated = [&](const Tensor& x) { return add({mul(x, cos), mul(rotate_half(x), sin)}); };
  Tensor q_embed = rotated(q_rot);
  q_embed = cat({q_embed, q_pass}, -1);
  Tensor k_embed = rotated(k_rot);
  k_embed = cat({k_embed, k_pass}, -1);
  return {std::move(q_embed), std::move(k_embed)};
}

Tensor text_position_ids(const Tensor& inputs_embeds) {
  return unsqueeze(add_scalar(arange(inputs_embeds.run(), inputs_embeds.whole_sizes()[1])), 0);
}

Attended projected(Module& projection, Attended attended) {
  attended.output = projection(attended.output);
  return attended;
}

Tensor split_heads(Tensor x, std::int64_t head_dim) {
  const std::int64_t b = x.size(0), s = x.size(1);
  return transpose(view(std::move(x), {b, s, -1, head_dim}), 1, 2);
}

/// transformers: cache_utils.DynamicLayer.update: concatenates to an empty tensor of the key's type, so the first
/// update copies too.
DynamicCache::KeyValue DynamicCache::update(Tensor key, Tensor value, std::size_t layer, bool sliding) {
  if (!enabled) return {std::move(key), std::move(value)};
  const Tensor held_key = std::move(key), held_value = std::move(value);
  if (layers.size() <= layer) layers.resize(layer + 1);
  if (sliding) windows.push_back(to_device(held_key.run(), Dims{}, Dtype::int64));
  layers[layer].first = cat({held_key}, -2);
  layers[layer].second = cat({held_value}, -2, held_key.dtype());
  return layers[layer];
}

Tensor repeat_kv(Tensor x, std::int64_t n_rep) {
  if (n_rep == 1) return x;
  const Tensor hidden_states = std::move(x);
  const std::int64_t b = hidden_states.size(0), k = hidden_states.size(1), s = hidden_states.size(2),
                     d = hidden_states.size(3);
  const Tensor expanded = expand(unsqueeze(hidden_states, 2), {b, k, n_rep, s, d});
  return reshape(expanded, {b, k * n_rep, s, d});
}

namespace {

/// transformers: integrations/sdpa_attention.py, sdpa_attention_forward
Attended sdpa_attention_forward(const AttentionCall& call, const Tensor& query, Tensor key, Tensor value,
                                const Tensor& mask) {
  const std::int64_t groups = query.size(1) / key.size(1);
  const bool use_gqa = !mask && key.size(-1) == value.size(-1) && key.size(-1) <= 256;
  if (groups > 1 && !use_gqa) {
    key = repeat_kv(key, groups);
    value = repeat_kv(value, groups);
  }
  const AttentionOptions options{.causal = call.is_causal && !mask && query.size(2) > 1,
                                 .enable_gqa = groups > 1 && use_gqa,
                                 .dropout = call.dropout};
  return {contiguous(transpose(scaled_dot_product_attention(query, key, value, mask, options), 1, 2)), {}};
}

/// eager_attention_forward of models/llama
Attended eager_attention_forward(const AttentionCall& call, const Tensor& query, const Tensor& key, const Tensor& value,
                                 const Tensor& mask) {
  const std::int64_t groups = query.size(1) / key.size(1);
  const Tensor key_states = repeat_kv(key, groups);
  const Tensor value_states = repeat_kv(value, groups);
  Tensor attn_weights = mul_scalar(matmul(query, transpose(key_states, 2, 3)));
  if (mask) attn_weights = add(attn_weights, mask);
  attn_weights = to(softmax(attn_weights, Dtype::f32), query.dtype());
  attn_weights = dropout(attn_weights, call.dropout);
  Tensor attn_output = contiguous(transpose(matmul(attn_weights, value_states), 1, 2));
  return {std::move(attn_output), std::move(attn_weights)};
}

}  // namespace

Attended attention_interface(const AttentionCall& call, Tensor query, Tensor key, Tensor value, Tensor mask) {
  const Tensor q = std::move(query), k = std::move(key), v = std::move(value), m = std::move(mask);
  return call.kind == AttentionKind::sdpa ? sdpa_attention_forward(call, q, k, v, m)
                                          : eager_attention_forward(call, q, k, v, m);
}

Tensor attention_interface(AttentionKind kind, Tensor query, Tensor key, Tensor value, Tensor mask, double dropout,
                           bool is_causal) {
  return attention_interface({.kind = kind, .dropout = dropout, .is_causal = is_causal}, std::move(query),
                             std::move(key), std::move(value), std::move(mask))
      .output;
}

Tensor causal_lm_loss(Tensor logits, Tensor labels, Tensor shift_labels) {
  const Tensor argument = std::move(logits);
  Tensor upcast = to(argument, Dtype::f32), padded;
  if (!shift_labels) {
    padded = pad(std::move(labels), 0, 1);
    shift_labels = contiguous(slice(padded, -1, 1, padded.size(-1)));
  }
  const std::int64_t vocabulary = upcast.size(-1);
  upcast = view(std::move(upcast), {-1, vocabulary});
  shift_labels = view(std::move(shift_labels), {-1});
  return cross_entropy(upcast, shift_labels);
}

}  // namespace tidemark
