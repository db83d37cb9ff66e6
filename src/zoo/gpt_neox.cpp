// transformers: models/gpt_neox/{configuration,modeling}_gpt_neox.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/hf_config.h"
#include "zoo/index.h"

namespace tidemark {
namespace {

struct GptNeoxConfig {
  std::int64_t vocab_size = 50432, hidden_size = 6144, num_hidden_layers = 44, num_attention_heads = 64;
  std::int64_t intermediate_size = 24576, max_position_embeddings = 2048;
  std::string hidden_act = "gelu";
  double attention_dropout = 0, hidden_dropout = 0, rotary_pct = 0.25;
  bool tie_word_embeddings = false, use_parallel_residual = true, attention_bias = true;
  RopeConfig rope;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit("vocab_size", c.vocab_size, kSize);
    visit("hidden_size", c.hidden_size, kSize);
    visit("num_hidden_layers", c.num_hidden_layers, kLayers);
    visit("num_attention_heads", c.num_attention_heads, kSize);
    visit("intermediate_size", c.intermediate_size, kSize);
    visit("max_position_embeddings", c.max_position_embeddings, kSize);
    visit("hidden_act", c.hidden_act, kAny);
    visit("attention_dropout", c.attention_dropout, kProbability);
    visit("hidden_dropout", c.hidden_dropout, kProbability);
    visit("rotary_pct", c.rotary_pct, kShare);
    visit("tie_word_embeddings", c.tie_word_embeddings, kAny);
    visit("use_parallel_residual", c.use_parallel_residual, kAny);
    visit("attention_bias", c.attention_bias, kAny);
    RopeConfig::visit_fields(c.rope, visit);
  }
  static KeyNames harmless() {
    return {"classifier_dropout", "layer_norm_eps", "rotary_emb_base", "rope_theta", "partial_rotary_factor"};
  }
};

/// What every layer of one forward pass is given.
struct LayerInputs {
  const GptNeoxConfig& config;
  const Context& context;
  Tensor mask, position_ids;
  Rotary rotary;
  DynamicCache* cache;
};

void add_layer(Module& layer, const GptNeoxConfig& c) {
  add_layer_norm(layer, "input_layernorm", c.hidden_size);
  add_layer_norm(layer, "post_attention_layernorm", c.hidden_size);
  add_dropout(layer, "post_attention_dropout", c.hidden_dropout);
  add_dropout(layer, "post_mlp_dropout", c.hidden_dropout);
  Module& attention = layer.add("attention");
  add_linear(attention, "query_key_value", c.hidden_size, 3 * c.hidden_size, c.attention_bias);
  add_linear(attention, "dense", c.hidden_size, c.hidden_size, c.attention_bias);
  Module& mlp = layer.add("mlp");
  add_linear(mlp, "dense_h_to_4h", c.hidden_size, c.intermediate_size, true);
  add_linear(mlp, "dense_4h_to_h", c.intermediate_size, c.hidden_size, true);
  add_activation(mlp, "act", c.hidden_act);
}

/// apply_rotary_pos_emb: the first part of each head is rotated.
std::pair<Tensor, Tensor> apply_rotary(const Tensor& q, const Tensor& k, const Rotary& rotary) {
  const Tensor cos = unsqueeze(rotary.cos, 1), sin = unsqueeze(rotary.sin, 1);
  const std::int64_t rotary_dim = cos.size(-1), head = q.size(-1);
  const Tensor q_rot = slice(q, -1, 0, rotary_dim), q_pass = slice(q, -1, rotary_dim, head);
  const Tensor k_rot = slice(k, -1, 0, rotary_dim), k_pass = slice(k, -1, rotary_dim, head);
  Tensor q_embed = add({mul(q_rot, cos), mul(rotate_half(q_rot), sin)});
  Tensor k_embed = add({mul(k_rot, cos), mul(rotate_half(k_rot), sin)});
  q_embed = cat({q_embed, q_pass}, -1);
  k_embed = cat({k_embed, k_pass}, -1);
  return {std::move(q_embed), std::move(k_embed)};
}

/// GPTNeoXAttention.forward
Attended attention(Module& m, Tensor input, const LayerInputs& inputs, std::size_t layer) {
  const Tensor hidden_states = std::move(input);
  const InModule scope(hidden_states.run(), m);
  const GptNeoxConfig& c = inputs.config;
  const std::int64_t b = hidden_states.size(0), s = hidden_states.size(1), head = c.hidden_size / c.num_attention_heads;
  const Tensor qkv = transpose(view(m["query_key_value"](hidden_states), {b, s, -1, 3 * head}), 1, 2);
  Tensor query_states, key_states, value_states;
  {
    Tensors parts = chunk(qkv, 3, -1);
    query_states = std::move(parts[0]);
    key_states = std::move(parts[1]);
    value_states = std::move(parts[2]);
  }
  std::tie(query_states, key_states) = apply_rotary(query_states, key_states, inputs.rotary);
  if (inputs.cache) std::tie(key_states, value_states) = inputs.cache->update(key_states, value_states, layer);
  auto [attn_output, attn_weights] =
      attention_interface({.kind = inputs.context.attention, .dropout = c.attention_dropout}, query_states, key_states,
                          value_states, inputs.mask);
  attn_output = contiguous(reshape(std::move(attn_output), {b, s, -1}));
  attn_output = m["dense"](attn_output);
  return {std::move(attn_output), std::move(attn_weights)};
}

/// GPTNeoXMLP.forward
Tensor mlp(Module& m, Tensor input) {
  const Tensor argument = std::move(input);
  const InModule scope(argument.run(), m);
  Tensor hidden_states = argument;
  for (const char* step : {"dense_h_to_4h", "act", "dense_4h_to_h"}) hidden_states = m[step](hidden_states);
  return hidden_states;
}

/// GPTNeoXLayer.forward
Tensor layer_forward(Module& m, Tensor input, const LayerInputs& inputs, std::size_t layer) {
  Tensor hidden_states = std::move(input);
  const InModule scope(hidden_states.run(), m);
  Attended attended = attention(m["attention"], m["input_layernorm"](hidden_states), inputs, layer);
  Tensor attn_output = std::move(attended.output);  // the weights stay, in `_`
  attn_output = m["post_attention_dropout"](attn_output);
  if (!inputs.config.use_parallel_residual) attn_output = add(attn_output, hidden_states);
  Tensor mlp_output =
      mlp(m["mlp"], m["post_attention_layernorm"](inputs.config.use_parallel_residual ? hidden_states : attn_output));
  mlp_output = m["post_mlp_dropout"](mlp_output);
  const bool parallel = inputs.config.use_parallel_residual;
  hidden_states = parallel ? add(add(mlp_output, attn_output), hidden_states) : add(mlp_output, attn_output);
  return hidden_states;
}

/// GPTNeoXModel.forward
Tensor model_forward(Module& m, const GptNeoxConfig& config, const Context& context, const Batch& batch,
                     DynamicCache& cache) {
  Run& run = batch.input_ids.run();
  const InModule scope(run, m);
  const Tensor inputs_embeds = m["embed_in"](batch.input_ids);
  LayerInputs inputs{config, context, {}, {}, {}, nullptr};
  inputs.position_ids = unsqueeze(add_scalar(arange(run, inputs_embeds.size(1))), 0);
  inputs.mask = create_causal_mask(context, inputs_embeds, batch.attention_mask);
  Tensor hidden_states = m["emb_dropout"](inputs_embeds);
  inputs.rotary = rotary_embedding(m["rotary_emb"], hidden_states, inputs.position_ids);
  Module& layers = m["layers"];
  for (std::size_t i = 0; i < layers.children().size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    inputs.cache = cache.enabled && !is_checkpointed(context, index) ? &cache : nullptr;
    hidden_states = checkpoint_layer(context, index, hidden_states, [&layer = layers[i], inputs, i](Tensor x) {
      return layer_forward(layer, std::move(x), inputs, i);
    });
  }
  hidden_states = m["final_layer_norm"](hidden_states);
  return hidden_states;
}

}  // namespace

std::unique_ptr<Model> make_gpt_neox(const ModelRequest& request) {
  auto c = read_config<GptNeoxConfig>(request.config);
  c.rope.partial_rotary_factor = c.rotary_pct;
  check_divides({"hidden_size", c.hidden_size}, {"num_attention_heads", c.num_attention_heads});
  const double head = static_cast<double>(c.hidden_size / c.num_attention_heads);
  const auto rotary_dim = static_cast<std::int64_t>(head * c.rope.rotated());
  check_rotary({"rotary_pct", rotary_dim});
  auto model = std::make_unique<Model>();
  Module& root = model->root;
  root.dtype = request.dtype;
  Module& neox = root.add("gpt_neox");
  add_embedding(neox, "embed_in", c.vocab_size, c.hidden_size);
  add_dropout(neox, "emb_dropout", c.hidden_dropout);
  Module& layers = neox.add("layers");
  for (std::int64_t i = 0; i < c.num_hidden_layers; ++i) add_layer(layers.add(std::to_string(i)), c);
  add_layer_norm(neox, "final_layer_norm", c.hidden_size);
  add_rotary(neox, "rotary_emb", rotary_dim);
  add_linear(root, "lm_head", c.hidden_size, c.vocab_size, false);
  if (c.tie_word_embeddings) root["lm_head"].tie("weight", neox["embed_in"], "weight");
  model->batch_sizes = [longest = c.max_position_embeddings](const Data& data) {
    check_no_images(data);
    return text_batch(data, longest);
  };
  model->forward = [&root, c, context = request.context](const Batch& batch) {
    const InModule scope(batch.input_ids.run(), root);
    DynamicCache cache{.enabled = context.use_cache, .layers = {}, .windows = {}};
    const Tensor hidden_states = model_forward(root["gpt_neox"], c, context, batch, cache);
    return causal_lm_outputs(root, hidden_states, batch, std::move(cache));
  };
  return model;
}

}  // namespace tidemark
