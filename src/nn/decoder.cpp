#include "nn/decoder.h"

#include "base/error.h"

namespace tidemark {

void add_decoder_attention(Module& layer, const Decoder& c) {
  if (c.rotary_dim > 0 && c.rotary_dim != c.head_dim)
    throw Error(Errc::unsupported, "partial_rotary_factor = not 1 is not simulated",
                "config.json: partial_rotary_factor");
  Module& m = layer.add("self_attn");
  add_linear(m, "q_proj", c.hidden_size, c.num_attention_heads * c.head_dim, c.qkv_bias);
  add_linear(m, "k_proj", c.hidden_size, c.num_key_value_heads * c.head_dim, c.qkv_bias);
  add_linear(m, "v_proj", c.hidden_size, c.num_key_value_heads * c.head_dim, c.qkv_bias);
  add_linear(m, "o_proj", c.num_attention_heads * c.head_dim, c.hidden_size, c.output_bias);
  if (c.qk_norm) {
    add_rms_norm(m, "q_norm", c.norms_before_heads ? c.hidden_size : c.head_dim);
    add_rms_norm(m, "k_norm", c.norms_before_heads ? c.head_dim * c.num_key_value_heads : c.head_dim);
  }
}

void add_gated_mlp(Module& layer, const Decoder& c, std::string_view name) {
  Module& m = layer.add(name);
  add_linear(m, "gate_proj", c.hidden_size, c.intermediate_size, c.mlp_bias);
  add_linear(m, "up_proj", c.hidden_size, c.intermediate_size, c.mlp_bias);
  add_linear(m, "down_proj", c.intermediate_size, c.hidden_size, c.mlp_bias);
  add_activation(m, "act_fn", c.hidden_act);
}

bool is_sliding(const Decoder& config, std::size_t layer) {
  if (!config.full_attention) return true;
  return layer < config.sliding_layers.size() && config.sliding_layers[layer];
}

bool is_sparse(const Decoder& config, std::size_t layer) {
  const std::vector<bool>& dense = config.dense_layers;
  return config.experts.count > 0 && !(layer < dense.size() && dense[layer]);
}

void add_decoder_layer(Module& layer, const Decoder& c) {
  add_decoder_attention(layer, c);
  add_gated_mlp(layer, c);
  add_rms_norm(layer, "input_layernorm", c.hidden_size);
  add_rms_norm(layer, "post_attention_layernorm", c.hidden_size);
}

void add_sparse_layer(Module& layer, const Decoder& c) {
  add_decoder_attention(layer, c);
  add_sparse_moe_block(layer, c.experts, c.hidden_size, c.hidden_act);
  add_rms_norm(layer, "input_layernorm", c.hidden_size);
  add_rms_norm(layer, "post_attention_layernorm", c.hidden_size);
}

void add_decoder(Module& model, const Decoder& c) {
  add_embedding(model, "embed_tokens", c.vocab_size, c.hidden_size);
  Module& layers = model.add("layers");
  for (std::int64_t i = 0; i < c.num_hidden_layers; ++i) {
    const auto usual = is_sparse(c, static_cast<std::size_t>(i)) ? add_sparse_layer : add_decoder_layer;
    (c.add_layer ? c.add_layer : usual)(layers.add(std::to_string(i)), c);
  }
  add_rms_norm(model, "norm", c.hidden_size);
  add_rotary(model, "rotary_emb", c.rotary_dim > 0 ? c.rotary_dim : c.head_dim);
}

Attended decoder_attention(Module& m, Tensor input, const DecoderInputs& inputs, std::size_t layer) {
  Tensor hidden_states = std::move(input);
  const Call scope(m, Call::Keyword{hidden_states});
  const std::int64_t b = hidden_states.size(0), s = hidden_states.size(1);
  const auto heads = [&](Tensor projected, const char* norm) {
    Tensor x = view(std::move(projected), {b, s, -1, inputs.config.head_dim});
    return transpose(m.has(norm) && !inputs.config.norms_before_heads ? m[norm](std::move(x)) : std::move(x), 1, 2);
  };
  Tensor query_states = m["q_proj"](hidden_states), key_states, value_states;
  if (inputs.config.norms_before_heads) query_states = m["q_norm"](query_states);
  if (!inputs.config.projects_first) query_states = heads(std::move(query_states), "q_norm");
  key_states = m["k_proj"](hidden_states);
  if (inputs.config.norms_before_heads) key_states = m["k_norm"](key_states);
  if (!inputs.config.projects_first) key_states = heads(std::move(key_states), "k_norm");
  value_states = m["v_proj"](hidden_states);
  if (inputs.config.projects_first) {
    query_states = heads(std::move(query_states), "q_norm");
    key_states = heads(std::move(key_states), "k_norm");
  }
  value_states = heads(std::move(value_states), "");
  std::tie(query_states, key_states) = apply_rotary_pos_emb(query_states, key_states, inputs.rotary);
  const AttentionCall call{.dropout = inputs.config.attention_dropout,
                           .is_causal = inputs.config.is_causal};
  Attended attended = projected(m["o_proj"], attend(call, inputs, layer, query_states, key_states, value_states,
                                                    is_sliding(inputs.config, layer)));
  return returned(scope, std::move(attended));
}

Tensor gated_mlp(Module& m, Tensor input) {
  const Tensor argument = std::move(input);
  Tensor x = argument;
  const Call call(m, x);
  return call.returns(m["down_proj"](mul({m["act_fn"](m["gate_proj"](x)), m["up_proj"](x)})));
}

Tensor decoder_layer(Module& m, Tensor input, const DecoderInputs& inputs, std::size_t layer) {
  return called(m, std::move(input), [&](Tensor hidden_states) {
    Tensor residual = hidden_states;
    hidden_states = m["input_layernorm"](hidden_states);
    Attended attended = decoder_attention(m["self_attn"], hidden_states, inputs, layer);
    hidden_states = std::move(attended.output);  // the weights stay, in `_`
    hidden_states = add(residual, hidden_states);
    residual = hidden_states;
    hidden_states = m["post_attention_layernorm"](hidden_states);
    hidden_states = is_sparse(inputs.config, layer) ? sparse_moe_block(m["mlp"], hidden_states, inputs.config.experts,
                                                                       inputs.context, inputs.captured.get())
                                                    : gated_mlp(m["mlp"], hidden_states);
    hidden_states = add(residual, hidden_states);
    return hidden_states;
  });
}

namespace {

/// The masks of layers that see all and of layers that see a window.
struct Masks {
  Tensor full, sliding;
};

Masks create_masks(const Decoder& config, const Context& context, const Tensor& inputs_embeds,
                   const Tensor& attention_mask) {
  Masks masks;
  if (config.full_attention)
    masks.full = (config.is_causal ? create_causal_mask : create_bidirectional_mask)(context, inputs_embeds,
                                                                                     attention_mask);
  if (config.sliding_window)
    masks.sliding = create_sliding_window_causal_mask(context, inputs_embeds, attention_mask, *config.sliding_window);
  return masks;
}

}  // namespace

Tensor decoder_model(Module& m, const Decoder& config, const Context& context, Tensor input_ids, Tensor inputs_embeds,
                     const Tensor& attention_mask, DynamicCache& cache, std::shared_ptr<CapturedOutputs> captured,
                     Tensor position_ids) {
  Run& run = attention_mask.run();
  const Call scope(run, m);
  if (!inputs_embeds) inputs_embeds = m["embed_tokens"](input_ids);
  if (!position_ids) position_ids = text_position_ids(inputs_embeds);
  const Masks masks = create_masks(config, context, inputs_embeds, attention_mask);
  Tensor hidden_states = inputs_embeds;
  DecoderInputs inputs{config, context, {}, {}, cache.enabled ? &cache : nullptr, position_ids, captured};
  inputs.rotary = rotary_embedding(m["rotary_emb"], hidden_states, position_ids, config.rope);
  Module& layers = m["layers"];
  const auto call = config.layer ? config.layer : decoder_layer;
  for (const std::unique_ptr<Module>& layer : layers.children()) {
    const std::size_t i = layer->place();
    inputs.mask = is_sliding(config, i) ? masks.sliding : masks.full;
    hidden_states =
        checkpoint_layer(context, static_cast<std::int64_t>(i), hidden_states,
                         [&m = *layer, inputs, i, call](Tensor x) { return call(m, std::move(x), inputs, i); })[0];
  }
  hidden_states = m["norm"](hidden_states);
  if (captured) captured->active = false;
  return scope.returns(hidden_states);
}

}  // namespace tidemark
