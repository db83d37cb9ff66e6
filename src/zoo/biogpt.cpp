// transformers: models/biogpt/{configuration,modeling}_biogpt.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/index.h"
#include "zoo/text_config.h"

namespace tidemark {
namespace {

struct BioGptConfig : TextConfig {
  std::int64_t intermediate_size = 4096;
  double hidden_dropout_prob = 0.1, attention_probs_dropout_prob = 0.1, activation_dropout = 0, layerdrop = 0;

  BioGptConfig() {
    vocab_size = 42384, hidden_size = 1024, num_hidden_layers = 24, num_attention_heads = 16;
    max_position_embeddings = 1024, hidden_act = "gelu", pad_token_id = 1, tie_word_embeddings = true;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    TextConfig::fields(c, visit);
    visit("intermediate_size", c.intermediate_size, kSize);
    visit_all(visit, kProbability, "hidden_dropout_prob", c.hidden_dropout_prob, "attention_probs_dropout_prob",
              c.attention_probs_dropout_prob, "activation_dropout", c.activation_dropout, "layerdrop", c.layerdrop);
  }
  static KeyNames harmless() { return {"layer_norm_eps", "scale_embedding"}; }
};

using Inputs = LayerInputs<BioGptConfig>;

void add_layer(Module& layer, const BioGptConfig& c) {
  Module& attention = layer.add("self_attn");
  for (const char* name : {"k_proj", "v_proj", "q_proj", "out_proj"})
    add_linear(attention, name, c.hidden_size, c.hidden_size, true);
  add_layer_norm(layer, "self_attn_layer_norm", c.hidden_size);
  add_mlp(layer, {"fc1", "activation_fn", "fc2"}, c.hidden_size, c.intermediate_size, c.hidden_act);
  add_layer_norm(layer, "final_layer_norm", c.hidden_size);
}

/// BioGptScaledWordEmbedding.forward
Tensor scaled_word_embedding(Module& m, Tensor input_ids) {
  const Tensor embedded = embedding(m("weight"), std::move(input_ids));
  return mul_scalar(embedded);
}

Module& add_model(Module& root, const BioGptConfig& c) {
  Module& m = root.add("biogpt");
  add_embedding(m, "embed_tokens", c.vocab_size, c.hidden_size).forward = scaled_word_embedding;
  add_offset_embedding(m, "embed_positions", c.max_position_embeddings, c.hidden_size);
  add_layers(m, "layers", c.num_hidden_layers, add_layer, c);
  add_layer_norm(m, "layer_norm", c.hidden_size);
  return m;
}

/// BioGptAttention.forward
Attended attention(Module& m, Tensor input, const Inputs& inputs, std::size_t layer) {
  Tensor hidden_states = std::move(input);
  const Call call(m, Call::Keyword{hidden_states});
  const std::int64_t head_dim = inputs.config.head_size();
  const Tensor query_states = split_heads(m["q_proj"](hidden_states), head_dim);
  Tensor key_states = m["k_proj"](hidden_states);
  Tensor value_states = m["v_proj"](hidden_states);
  key_states = split_heads(std::move(key_states), head_dim);
  value_states = split_heads(std::move(value_states), head_dim);
  Attended attended =
      projected(m["out_proj"], attend({.dropout = inputs.config.attention_probs_dropout_prob, .softmax_in_f32 = false},
                                      inputs, layer, query_states, key_states, value_states));
  return returned(call, std::move(attended));
}

/// BioGptDecoderLayer.forward
Tensor decoder_layer(Module& m, Tensor input, const Inputs& inputs, std::size_t layer) {
  Tensor hidden_states = std::move(input);
  const Call call(m, hidden_states);
  const BioGptConfig& c = inputs.config;
  Tensor residual = hidden_states;
  hidden_states = m["self_attn_layer_norm"](hidden_states);
  Attended attended = attention(m["self_attn"], hidden_states, inputs, layer);
  hidden_states = std::move(attended.output);  // the weights stay, in `_`
  hidden_states = dropout(hidden_states, c.hidden_dropout_prob);
  hidden_states = add(residual, hidden_states);
  residual = hidden_states;
  for (const char* step : {"final_layer_norm", "fc1", "activation_fn"}) hidden_states = m[step](hidden_states);
  hidden_states = dropout(hidden_states, c.activation_dropout);
  hidden_states = m["fc2"](hidden_states);
  hidden_states = dropout(hidden_states, c.hidden_dropout_prob);
  hidden_states = add(residual, hidden_states);
  return call.returns(hidden_states);
}

/// BioGptModel.forward
Tensor model_forward(Module& m, Inputs inputs, const Batch& batch) {
  const Call call(batch.input_ids.run(), m);
  const Tensor inputs_embeds = m["embed_tokens"](batch.input_ids);
  inputs.mask = create_causal_mask(inputs.context, inputs_embeds, batch.attention_mask);
  inputs.position_ids = text_position_ids(inputs_embeds);
  const Tensor positions = m["embed_positions"](inputs.position_ids);
  Tensor hidden_states = add(inputs_embeds, positions);
  hidden_states = dropout(hidden_states, inputs.config.hidden_dropout_prob);
  hidden_states = run_layers(m["layers"], std::move(hidden_states), inputs, decoder_layer);
  return call.returns(m["layer_norm"](hidden_states));
}

}  // namespace

std::unique_ptr<Model> make_biogpt(const ModelRequest& request) {
  const auto c = read_config<BioGptConfig>(request.config);
  refuse(c.layerdrop != 0, "layerdrop", "not 0");  // which layers run is drawn at random
  return make_causal_lm<BioGptConfig>(request, c,
                                      {add_model, "embed_tokens", model_forward, true, "output_projection"});
}

}  // namespace tidemark
