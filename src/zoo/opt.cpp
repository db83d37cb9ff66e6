// transformers: models/opt/{configuration,modeling}_opt.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/hf_config.h"
#include "zoo/index.h"

namespace tidemark {
namespace {

struct OptConfig {
  std::int64_t vocab_size = 50272, hidden_size = 768, num_hidden_layers = 12, ffn_dim = 3072, num_attention_heads = 12;
  std::int64_t max_position_embeddings = 2048;
  std::optional<std::int64_t> word_embed_proj_dim;
  std::string activation_function = "relu";
  double dropout = 0.1, attention_dropout = 0, layerdrop = 0;
  bool do_layer_norm_before = true, remove_final_layer_norm = false, enable_bias = true;
  bool layer_norm_elementwise_affine = true, tie_word_embeddings = true;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit("vocab_size", c.vocab_size, kSize);
    visit("hidden_size", c.hidden_size, kSize);
    visit("num_hidden_layers", c.num_hidden_layers, kLayers);
    visit("ffn_dim", c.ffn_dim, kSize);
    visit("num_attention_heads", c.num_attention_heads, kSize);
    visit("max_position_embeddings", c.max_position_embeddings, kSize);
    visit("word_embed_proj_dim", c.word_embed_proj_dim, kSize);
    visit("activation_function", c.activation_function, kAny);
    visit("dropout", c.dropout, kProbability);
    visit("attention_dropout", c.attention_dropout, kProbability);
    visit("layerdrop", c.layerdrop, kProbability);
    visit("do_layer_norm_before", c.do_layer_norm_before, kAny);
    visit("_remove_final_layer_norm", c.remove_final_layer_norm, kAny);
    visit("enable_bias", c.enable_bias, kAny);
    visit("layer_norm_elementwise_affine", c.layer_norm_elementwise_affine, kAny);
    visit("tie_word_embeddings", c.tie_word_embeddings, kAny);
  }
  static KeyNames harmless() { return {"init_std", "activation_dropout"}; }
};

/// What every layer of one forward pass is given.
struct LayerInputs {
  const OptConfig& config;
  const Context& context;
  Tensor mask, position_ids;
  DynamicCache* cache;
};

void add_layer(Module& layer, const OptConfig& c) {
  Module& attention = layer.add("self_attn");
  for (const char* name : {"k_proj", "v_proj", "q_proj", "out_proj"})
    add_linear(attention, name, c.hidden_size, c.hidden_size, c.enable_bias);
  add_activation(layer, "activation_fn", c.activation_function);
  add_layer_norm(layer, "self_attn_layer_norm", c.hidden_size, c.layer_norm_elementwise_affine);
  add_linear(layer, "fc1", c.hidden_size, c.ffn_dim, c.enable_bias);
  add_linear(layer, "fc2", c.ffn_dim, c.hidden_size, c.enable_bias);
  add_layer_norm(layer, "final_layer_norm", c.hidden_size, c.layer_norm_elementwise_affine);
}

void add_decoder(Module& m, const OptConfig& c) {
  const std::int64_t width = c.word_embed_proj_dim.value_or(c.hidden_size);
  add_embedding(m, "embed_tokens", c.vocab_size, width);
  add_embedding(m, "embed_positions", c.max_position_embeddings + 2, c.hidden_size);
  if (width != c.hidden_size) {
    add_linear(m, "project_out", c.hidden_size, width, false);
    add_linear(m, "project_in", width, c.hidden_size, false);
  }
  if (c.do_layer_norm_before && !c.remove_final_layer_norm)
    add_layer_norm(m, "final_layer_norm", c.hidden_size, c.layer_norm_elementwise_affine);
  Module& layers = m.add("layers");
  for (std::int64_t i = 0; i < c.num_hidden_layers; ++i) add_layer(layers.add(std::to_string(i)), c);
}

/// OPTAttention.forward
Attended attention(Module& m, Tensor input, const LayerInputs& inputs, std::size_t layer) {
  const Tensor hidden_states = std::move(input);
  const InModule scope(hidden_states.run(), m);
  const OptConfig& c = inputs.config;
  const std::int64_t b = hidden_states.size(0), s = hidden_states.size(1);
  const auto heads = [&](Tensor x) {
    return transpose(view(std::move(x), {b, -1, c.num_attention_heads, c.hidden_size / c.num_attention_heads}), 1, 2);
  };
  const Tensor query_states = heads(mul_scalar(m["q_proj"](hidden_states)));
  Tensor key_states = m["k_proj"](hidden_states);
  Tensor value_states = m["v_proj"](hidden_states);
  key_states = heads(std::move(key_states));
  value_states = heads(std::move(value_states));
  if (inputs.cache) std::tie(key_states, value_states) = inputs.cache->update(key_states, value_states, layer);
  auto [attn_output, attn_weights] =
      attention_interface({.kind = inputs.context.attention, .dropout = c.attention_dropout}, query_states, key_states,
                          value_states, inputs.mask);
  attn_output = contiguous(reshape(std::move(attn_output), {b, s, -1}));
  attn_output = m["out_proj"](attn_output);
  return {std::move(attn_output), std::move(attn_weights)};
}

/// OPTDecoderLayer.forward
Tensor decoder_layer(Module& m, Tensor input, const LayerInputs& inputs, std::size_t layer) {
  Tensor hidden_states = std::move(input);
  const InModule scope(hidden_states.run(), m);
  const OptConfig& c = inputs.config;
  Tensor residual = hidden_states;
  if (c.do_layer_norm_before) hidden_states = m["self_attn_layer_norm"](hidden_states);
  Attended attended = attention(m["self_attn"], hidden_states, inputs, layer);
  hidden_states = std::move(attended.output);  // the weights stay, in `_`
  hidden_states = dropout(hidden_states, c.dropout);
  hidden_states = add(residual, hidden_states);
  if (!c.do_layer_norm_before) hidden_states = m["self_attn_layer_norm"](hidden_states);
  const Dims shape = hidden_states.sizes();
  hidden_states = reshape(hidden_states, {-1, hidden_states.size(-1)});
  residual = hidden_states;
  if (c.do_layer_norm_before) hidden_states = m["final_layer_norm"](hidden_states);
  hidden_states = m["fc1"](hidden_states);
  hidden_states = m["activation_fn"](hidden_states);
  hidden_states = m["fc2"](hidden_states);
  hidden_states = dropout(hidden_states, c.dropout);
  hidden_states = view(add(residual, hidden_states), shape);
  if (!c.do_layer_norm_before) hidden_states = m["final_layer_norm"](hidden_states);
  return hidden_states;
}

/// torch.cumsum(attention_mask, dim=1) * attention_mask - 1
Tensor positions_of(const Tensor& attention_mask) {
  Tensor position_ids = cumsum(attention_mask, 1);
  position_ids = add_scalar(mul(position_ids, attention_mask));
  return position_ids;
}

/// OPTLearnedPositionalEmbedding.forward
Tensor embed_positions(Module& m, const Tensor& position_ids) {
  const InModule scope(position_ids.run(), m);
  return embedding(m("weight"), add_scalar(position_ids));
}

/// OPTDecoder.forward
Tensor decoder_forward(Module& m, const OptConfig& config, const Context& context, const Batch& batch,
                       DynamicCache& cache) {
  const InModule scope(batch.input_ids.run(), m);
  Tensor inputs_embeds = m["embed_tokens"](batch.input_ids);
  LayerInputs inputs{config, context, {}, {}, nullptr};
  inputs.position_ids = positions_of(batch.attention_mask);
  inputs.mask = create_causal_mask(context, inputs_embeds, batch.attention_mask);
  const Tensor pos_embeds = embed_positions(m["embed_positions"], inputs.position_ids);
  if (m.has("project_in")) inputs_embeds = m["project_in"](inputs_embeds);
  Tensor hidden_states = add(inputs_embeds, pos_embeds);
  Module& layers = m["layers"];
  for (std::size_t i = 0; i < layers.children().size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    inputs.cache = cache.enabled && !is_checkpointed(context, index) ? &cache : nullptr;
    hidden_states = checkpoint_layer(context, index, hidden_states, [&layer = layers[i], inputs, i](Tensor x) {
      return decoder_layer(layer, std::move(x), inputs, i);
    });
  }
  if (m.has("final_layer_norm")) hidden_states = m["final_layer_norm"](hidden_states);
  if (m.has("project_out")) hidden_states = m["project_out"](hidden_states);
  return hidden_states;
}

}  // namespace

std::unique_ptr<Model> make_opt(const ModelRequest& request) {
  const auto c = read_config<OptConfig>(request.config);
  refuse(c.layerdrop != 0, "layerdrop", "not 0");  // which layers run is drawn at random
  check_divides({"hidden_size", c.hidden_size}, {"num_attention_heads", c.num_attention_heads});
  check_padding_index(request.config, c.vocab_size, 1);
  auto model = std::make_unique<Model>();
  Module& root = model->root;
  root.dtype = request.dtype;
  Module& decoder = root.add("model").add("decoder");
  add_decoder(decoder, c);
  add_linear(root, "lm_head", c.word_embed_proj_dim.value_or(c.hidden_size), c.vocab_size, false);
  if (c.tie_word_embeddings) root["lm_head"].tie("weight", decoder["embed_tokens"], "weight");
  model->batch_sizes = text_batches({"max_position_embeddings", c.max_position_embeddings});
  model->forward = [&root, c, context = request.context](const Batch& batch) {
    const InModule scope(batch.input_ids.run(), root);
    DynamicCache cache{.enabled = context.use_cache, .layers = {}, .windows = {}};
    const Tensor hidden_states = decoder_forward(root["model"]["decoder"], c, context, batch, cache);
    return causal_lm_outputs(root, hidden_states, batch, std::move(cache));
  };
  return model;
}

}  // namespace tidemark
