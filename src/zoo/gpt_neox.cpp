// transformers: models/gpt_neox/{configuration,modeling}_gpt_neox.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/index.h"
#include "zoo/text_config.h"

namespace tidemark {
namespace {

struct GptNeoxConfig : TextConfig {
  std::int64_t intermediate_size = 24576;
  double attention_dropout = 0, hidden_dropout = 0;
  bool use_parallel_residual = true, attention_bias = true;
  RopeConfig rope;

  GptNeoxConfig() {
    vocab_size = 50432, hidden_size = 6144, num_hidden_layers = 44, num_attention_heads = 64, hidden_act = "gelu";
    rope.partial_rotary_factor = 0.25;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    TextConfig::fields(c, visit);
    visit("intermediate_size", c.intermediate_size, kSize);
    visit_all(visit, kProbability, "attention_dropout", c.attention_dropout, "hidden_dropout", c.hidden_dropout);
    visit("rotary_pct", c.rope.partial_rotary_factor, kShare);
    visit_all(visit, kAny, "use_parallel_residual", c.use_parallel_residual, "attention_bias", c.attention_bias);
    RopeConfig::visit_fields(c.rope, visit);
  }
  RopeUpdate rope_update() const { return rope.update(head_size(), max_position_embeddings); }
  static KeyNames harmless() {
    return {"classifier_dropout", "layer_norm_eps", "rotary_emb_base", "rope_theta", "partial_rotary_factor"};
  }
};

using Inputs = LayerInputs<GptNeoxConfig>;

void add_layer(Module& layer, const GptNeoxConfig& c) {
  add_layer_norm(layer, "input_layernorm", c.hidden_size);
  add_layer_norm(layer, "post_attention_layernorm", c.hidden_size);
  add_dropout(layer, "post_attention_dropout", c.hidden_dropout);
  add_dropout(layer, "post_mlp_dropout", c.hidden_dropout);
  Module& attention = layer.add("attention");
  add_linear(attention, "query_key_value", c.hidden_size, 3 * c.hidden_size, c.attention_bias);
  add_linear(attention, "dense", c.hidden_size, c.hidden_size, c.attention_bias);
  add_mlp(layer.add("mlp"), {"dense_h_to_4h", "act", "dense_4h_to_h"}, c.hidden_size, c.intermediate_size,
          c.hidden_act);
}

/// GPTNeoXAttention.forward
Attended attention(Module& m, Tensor input, const Inputs& inputs, std::size_t layer) {
  Tensor hidden_states = std::move(input);
  const Call call(m, hidden_states);
  const Tensor qkv = split_heads(m["query_key_value"](hidden_states), 3 * inputs.config.head_size());
  auto [query_states, key_states, value_states] = unpack<3>(chunk(qkv, 3, -1));
  std::tie(query_states, key_states) = apply_partial_rotary_pos_emb(query_states, key_states, inputs.rotary, true);
  Attended attended = projected(m["dense"], attend({.dropout = inputs.config.attention_dropout}, inputs, layer,
                                                   query_states, key_states, value_states));
  return returned(call, std::move(attended));
}

/// GPTNeoXLayer.forward
Tensor layer_forward(Module& m, Tensor input, const Inputs& inputs, std::size_t layer) {
  return called(m, std::move(input), [&](Tensor hidden_states) {
    auto [attn_output, attn_weights] = attention(m["attention"], m["input_layernorm"](hidden_states), inputs, layer);
    attn_output = m["post_attention_dropout"](attn_output);
    const bool parallel = inputs.config.use_parallel_residual;
    if (!parallel) attn_output = add(attn_output, hidden_states);
    Tensor mlp_output = chain(m["mlp"], {"dense_h_to_4h", "act", "dense_4h_to_h"},
                              m["post_attention_layernorm"](parallel ? hidden_states : attn_output));
    mlp_output = m["post_mlp_dropout"](mlp_output);
    hidden_states = parallel ? add(add(mlp_output, attn_output), hidden_states) : add(mlp_output, attn_output);
    return hidden_states;
  });
}

Module& add_model(Module& root, const GptNeoxConfig& c) {
  Module& m = root.add("gpt_neox");
  add_embedding(m, "embed_in", c.vocab_size, c.hidden_size);
  add_dropout(m, "emb_dropout", c.hidden_dropout);
  add_layers(m, "layers", c.num_hidden_layers, add_layer, c);
  add_layer_norm(m, "final_layer_norm", c.hidden_size);
  add_rotary(m, "rotary_emb", c.rope.rotary_dim(c.head_size()));
  return m;
}

/// GPTNeoXModel.forward
Tensor model_forward(Module& m, Inputs inputs, const Batch& batch) {
  const Call call(batch.input_ids.run(), m);
  const Tensor inputs_embeds = m["embed_in"](batch.input_ids);
  inputs.position_ids = batch.position_ids ? batch.position_ids : text_position_ids(inputs_embeds);
  inputs.mask = create_causal_mask(inputs.context, inputs_embeds, batch.attention_mask);
  Tensor hidden_states = m["emb_dropout"](inputs_embeds);
  inputs.rotary = rotary_embedding(m["rotary_emb"], hidden_states, inputs.position_ids, inputs.config.rope_update());
  hidden_states = run_layers(m["layers"], std::move(hidden_states), inputs, layer_forward);
  return call.returns(m["final_layer_norm"](hidden_states));
}

}  // namespace

std::unique_ptr<Model> make_gpt_neox(const ModelRequest& request) {
  const auto c = read_config<GptNeoxConfig>(request.config);
  const bool fixed = c.rope_update().kind == RopeUpdate::Kind::none;
  check_rotary({"rotary_pct", c.rope.rotary_dim(c.head_size())});
  return make_causal_lm<GptNeoxConfig>(request, c,
                                       {.add = add_model,
                                        .embedding = "embed_in",
                                        .forward = model_forward,
                                        .cut = TextCut{"emb_dropout", "layers", "final_layer_norm"},
                                        .takes_positions = fixed});
}

}  // namespace tidemark
