#include "nn/decoder.h"

namespace tidemark {

void add_decoder_attention(Module& layer, const Decoder& c) {
  Module& m = layer.add("self_attn");
  add_linear(m, "q_proj", c.hidden_size, c.num_attention_heads * c.head_dim, c.qkv_bias);
  add_linear(m, "k_proj", c.hidden_size, c.num_key_value_heads * c.head_dim, c.qkv_bias);
  add_linear(m, "v_proj", c.hidden_size, c.num_key_value_heads * c.head_dim, c.qkv_bias);
  add_linear(m, "o_proj", c.num_attention_heads * c.head_dim, c.hidden_size, c.output_bias);
  if (c.qk_norm) {
    add_rms_norm(m, "q_norm", c.head_dim);
    add_rms_norm(m, "k_norm", c.head_dim);
  }
}

void add_gated_mlp(Module& layer, const Decoder& c) {
  Module& m = layer.add("mlp");
  add_linear(m, "gate_proj", c.hidden_size, c.intermediate_size, c.mlp_bias);
  add_linear(m, "up_proj", c.hidden_size, c.intermediate_size, c.mlp_bias);
  add_linear(m, "down_proj", c.intermediate_size, c.hidden_size, c.mlp_bias);
  add_activation(m, "act_fn", c.hidden_act);
}

void add_decoder(Module& model, const Decoder& c) {
  add_embedding(model, "embed_tokens", c.vocab_size, c.hidden_size);
  Module& layers = model.add("layers");
  for (std::int64_t i = 0; i < c.num_hidden_layers; ++i) {
    Module& layer = layers.add(std::to_string(i));
    add_decoder_attention(layer, c);
    add_gated_mlp(layer, c);
    add_rms_norm(layer, "input_layernorm", c.hidden_size);
    add_rms_norm(layer, "post_attention_layernorm", c.hidden_size);
  }
  add_rms_norm(model, "norm", c.hidden_size);
  add_rotary(model, "rotary_emb", c.head_dim);
}

Attended decoder_attention(Module& m, Tensor input, const DecoderInputs& inputs, std::size_t layer) {
  const Tensor hidden_states = std::move(input);
  const InModule scope(hidden_states.run(), m);
  const std::int64_t b = hidden_states.size(0), s = hidden_states.size(1);
  const auto heads = [&](const char* projection, const char* norm) {
    Tensor x = view(m[projection](hidden_states), {b, s, -1, inputs.config.head_dim});
    return transpose(m.has(norm) ? m[norm](std::move(x)) : std::move(x), 1, 2);
  };
  Tensor query_states = heads("q_proj", "q_norm");
  Tensor key_states = heads("k_proj", "k_norm");
  Tensor value_states = heads("v_proj", "");
  std::tie(query_states, key_states) = apply_rotary_pos_emb(query_states, key_states, inputs.rotary);
  if (inputs.cache) std::tie(key_states, value_states) = inputs.cache->update(key_states, value_states, layer);
  auto [attn_output, attn_weights] =
      attention_interface({.kind = inputs.context.attention, .dropout = inputs.config.attention_dropout}, query_states,
                          key_states, value_states, inputs.mask);
  attn_output = contiguous(reshape(std::move(attn_output), {b, s, -1}));
  attn_output = m["o_proj"](attn_output);
  return {std::move(attn_output), std::move(attn_weights)};
}

Tensor gated_mlp(Module& m, Tensor input) {
  const Tensor x = std::move(input);
  const InModule scope(x.run(), m);
  return m["down_proj"](mul({m["act_fn"](m["gate_proj"](x)), m["up_proj"](x)}));
}

Tensor decoder_layer(Module& m, Tensor input, const DecoderInputs& inputs, std::size_t layer) {
  Tensor hidden_states = std::move(input);
  const InModule scope(hidden_states.run(), m);
  Tensor residual = hidden_states;
  hidden_states = m["input_layernorm"](hidden_states);
  Attended attended = decoder_attention(m["self_attn"], hidden_states, inputs, layer);
  hidden_states = std::move(attended.output);  // the weights stay, in `_`
  hidden_states = add(residual, hidden_states);
  residual = hidden_states;
  hidden_states = m["post_attention_layernorm"](hidden_states);
  hidden_states = gated_mlp(m["mlp"], hidden_states);
  hidden_states = add(residual, hidden_states);
  return hidden_states;
}

Tensor decoder_model(Module& m, const Decoder& config, const Context& context, Tensor input_ids, Tensor inputs_embeds,
                     const Tensor& attention_mask, DynamicCache& cache) {
  Run& run = attention_mask.run();
  const InModule scope(run, m);
  if (!inputs_embeds) inputs_embeds = m["embed_tokens"](input_ids);
  const Tensor position_ids = unsqueeze(add_scalar(arange(run, inputs_embeds.size(1))), 0);
  DecoderInputs inputs{.config = config, .context = context, .position_ids = position_ids, .mask = {}, .rotary = {}};
  inputs.mask = create_causal_mask(context, inputs_embeds, attention_mask);
  Tensor hidden_states = inputs_embeds;
  inputs.rotary = rotary_embedding(m["rotary_emb"], hidden_states, position_ids);
  if (cache.enabled) inputs.cache = &cache;
  Module& layers = m["layers"];
  for (std::size_t i = 0; i < layers.children().size(); ++i)
    hidden_states = checkpoint_layer(context, static_cast<std::int64_t>(i), hidden_states,
                                     [&layer = layers[i], inputs, i](Tensor x) {
                                       return decoder_layer(layer, std::move(x), inputs, i);
                                     });
  hidden_states = m["norm"](hidden_states);
  return hidden_states;
}

}  // namespace tidemark
