// transformers: models/opt/{configuration,modeling}_opt.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/index.h"
#include "zoo/text_config.h"

namespace tidemark {
namespace {

struct OptConfig : TextConfig {
  static constexpr TextConfigNames kNames{.hidden_act = "activation_function"};
  std::int64_t ffn_dim = 3072;
  std::optional<std::int64_t> word_embed_proj_dim;
  double dropout = 0.1, attention_dropout = 0, layerdrop = 0;
  bool do_layer_norm_before = true, remove_final_layer_norm = false, enable_bias = true, affine = true;

  OptConfig() {
    vocab_size = 50272, hidden_size = 768, num_hidden_layers = 12, num_attention_heads = 12;
    pad_token_id = 1, hidden_act = "relu", tie_word_embeddings = true;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    TextConfig::fields(c, visit);
    visit_all(visit, kSize, "ffn_dim", c.ffn_dim, "word_embed_proj_dim", c.word_embed_proj_dim);
    visit_all(visit, kProbability, "dropout", c.dropout, "attention_dropout", c.attention_dropout, "layerdrop",
              c.layerdrop);
    visit_all(visit, kAny, "do_layer_norm_before", c.do_layer_norm_before, "_remove_final_layer_norm",
              c.remove_final_layer_norm, "enable_bias", c.enable_bias, "layer_norm_elementwise_affine", c.affine);
  }
  static KeyNames harmless() { return {"init_std"}; }
};

using Inputs = LayerInputs<OptConfig>;

void add_layer(Module& layer, const OptConfig& c) {
  Module& attention = layer.add("self_attn");
  for (const char* name : {"k_proj", "v_proj", "q_proj", "out_proj"})
    add_linear(attention, name, c.hidden_size, c.hidden_size, c.enable_bias);
  add_layer_norm(layer, "self_attn_layer_norm", c.hidden_size, c.affine);
  add_mlp(layer, {"fc1", "activation_fn", "fc2"}, c.hidden_size, c.ffn_dim, c.hidden_act, c.enable_bias);
  add_layer_norm(layer, "final_layer_norm", c.hidden_size, c.affine);
}

Module& add_decoder(Module& root, const OptConfig& c) {
  Module& m = root.add("model").add("decoder");
  const std::int64_t width = c.word_embed_proj_dim.value_or(c.hidden_size);
  add_embedding(m, "embed_tokens", c.vocab_size, width);
  add_offset_embedding(m, "embed_positions", c.max_position_embeddings, c.hidden_size);
  if (width != c.hidden_size) {
    add_linear(m, "project_out", c.hidden_size, width, false);
    add_linear(m, "project_in", width, c.hidden_size, false);
  }
  if (c.do_layer_norm_before && !c.remove_final_layer_norm)
    add_layer_norm(m, "final_layer_norm", c.hidden_size, c.affine);
  add_layers(m, "layers", c.num_hidden_layers, add_layer, c);
  return m;
}

/// OPTAttention.forward
Attended attention(Module& m, const Tensor& hidden_states, const Inputs& inputs, std::size_t layer) {
  const Call call(hidden_states.run(), m);
  const std::int64_t head_dim = inputs.config.head_size();
  const Tensor query_states = split_heads(mul_scalar(m["q_proj"](hidden_states)), head_dim);
  Tensor key_states = m["k_proj"](hidden_states);
  Tensor value_states = m["v_proj"](hidden_states);
  key_states = split_heads(std::move(key_states), head_dim);
  value_states = split_heads(std::move(value_states), head_dim);
  Attended attended = projected(m["out_proj"], attend({.dropout = inputs.config.attention_dropout}, inputs, layer,
                                                      query_states, key_states, value_states));
  return returned(call, std::move(attended));
}

/// OPTDecoderLayer.forward
Tensor decoder_layer(Module& m, Tensor input, const Inputs& inputs, std::size_t layer) {
  return called(m, std::move(input), [&](Tensor hidden_states) {
    const OptConfig& c = inputs.config;
    Tensor residual = hidden_states;
    if (c.do_layer_norm_before) hidden_states = m["self_attn_layer_norm"](hidden_states);
    Attended attended = attention(m["self_attn"], hidden_states, inputs, layer);
    hidden_states = std::move(attended.output);  // the weights stay, in `_`
    hidden_states = dropout(hidden_states, c.dropout);
    hidden_states = add(residual, hidden_states);
    if (!c.do_layer_norm_before) hidden_states = m["self_attn_layer_norm"](hidden_states);
    const Dims shape = hidden_states.sizes();
    hidden_states = reshape(hidden_states, {-1, c.hidden_size});
    residual = hidden_states;
    if (c.do_layer_norm_before) hidden_states = m["final_layer_norm"](hidden_states);
    for (const char* step : {"fc1", "activation_fn", "fc2"}) hidden_states = m[step](hidden_states);
    hidden_states = dropout(hidden_states, c.dropout);
    hidden_states = view(add(residual, hidden_states), shape);
    return c.do_layer_norm_before ? hidden_states : m["final_layer_norm"](hidden_states);
  });
}

/// OPTDecoder.forward
Tensor decoder_forward(Module& m, Inputs inputs, const Batch& batch) {
  const Call call(batch.input_ids.run(), m);
  Tensor inputs_embeds = m["embed_tokens"](batch.input_ids);
  inputs.position_ids = batch.position_ids;
  if (!inputs.position_ids) {
    inputs.position_ids = cumsum(batch.attention_mask, 1);
    inputs.position_ids = add_scalar(mul(inputs.position_ids, batch.attention_mask));
  }
  inputs.mask = create_causal_mask(inputs.context, inputs_embeds, batch.attention_mask);
  const Tensor pos_embeds = m["embed_positions"](inputs.position_ids);
  if (m.has("project_in")) inputs_embeds = m["project_in"](inputs_embeds);
  Tensor hidden_states = run_layers(m["layers"], add(inputs_embeds, pos_embeds), inputs, decoder_layer);
  if (m.has("final_layer_norm")) hidden_states = m["final_layer_norm"](hidden_states);
  return call.returns(m.has("project_out") ? m["project_out"](hidden_states) : hidden_states);
}

}  // namespace

std::unique_ptr<Model> make_opt(const ModelRequest& request) {
  const auto c = read_config<OptConfig>(request.config);
  refuse(c.layerdrop != 0, "layerdrop", "not 0");  // which layers run is drawn at random
  return make_causal_lm<OptConfig>(request, c,
                                   {.add = add_decoder,
                                    .embedding = "embed_tokens",
                                    .forward = decoder_forward,
                                    .learned_positions = true,
                                    .takes_positions = true});
}

}  // namespace tidemark
