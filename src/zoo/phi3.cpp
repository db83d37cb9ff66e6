// transformers: models/phi3/{configuration,modeling}_phi3.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/index.h"
#include "zoo/text_config.h"

namespace tidemark {
namespace {

struct Phi3Config : DecoderConfig {
  double resid_pdrop = 0;
  std::int64_t original_max_position_embeddings = 4096;
  std::optional<std::int64_t> sliding_window;

  Phi3Config() {
    vocab_size = 32064, hidden_size = 3072, intermediate_size = 8192, num_hidden_layers = 32;
    num_attention_heads = 32, pad_token_id = 32000;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    DecoderConfig::fields(c, visit);
    visit("resid_pdrop", c.resid_pdrop, kProbability);
    visit("partial_rotary_factor", c.rope.partial_rotary_factor, kShare);
    visit_all(visit, kSize, "sliding_window", c.sliding_window, "original_max_position_embeddings",
              c.original_max_position_embeddings);
  }
  static KeyNames harmless() { return {"rms_norm_eps", "rope_theta", "embd_pdrop"}; }
};

void add_layer(Module& layer, const Decoder& c) {
  Module& attention = layer.add("self_attn");
  const std::int64_t queries = c.num_attention_heads * c.head_dim, keys = c.num_key_value_heads * c.head_dim;
  add_linear(attention, "o_proj", queries, c.hidden_size, false);
  add_linear(attention, "qkv_proj", c.hidden_size, queries + 2 * keys, false);
  Module& mlp = layer.add("mlp");
  add_linear(mlp, "gate_up_proj", c.hidden_size, 2 * c.intermediate_size, false);
  add_linear(mlp, "down_proj", c.intermediate_size, c.hidden_size, false);
  add_activation(mlp, "activation_fn", c.hidden_act);
  add_rms_norm(layer, "input_layernorm", c.hidden_size);
  add_rms_norm(layer, "post_attention_layernorm", c.hidden_size);
  add_dropout(layer, "resid_attn_dropout", c.residual_dropout);
  add_dropout(layer, "resid_mlp_dropout", c.residual_dropout);
}

/// Phi3Attention.forward
Attended attention(Module& m, const Tensor& hidden_states, const DecoderInputs& inputs, std::size_t layer) {
  const Call call(hidden_states.run(), m);
  const Decoder& c = inputs.config;
  const std::int64_t queries = c.num_attention_heads * c.head_dim, keys = c.num_key_value_heads * c.head_dim;
  const Tensor qkv = m["qkv_proj"](hidden_states);
  Tensor query_states = slice(qkv, -1, 0, queries);
  Tensor key_states = slice(qkv, -1, queries, queries + keys);
  Tensor value_states = slice(qkv, -1, queries + keys, qkv.size(-1));
  for (Tensor* x : {&query_states, &key_states, &value_states}) *x = split_heads(*x, c.head_dim);
  std::tie(query_states, key_states) = apply_partial_rotary_pos_emb(query_states, key_states, inputs.rotary);
  Attended attended = projected(m["o_proj"], attend({.dropout = c.attention_dropout}, inputs, layer, query_states,
                                                    key_states, value_states, is_sliding(c, layer)));
  return returned(call, std::move(attended));
}

/// Phi3MLP.forward
Tensor mlp(Module& m, Tensor input) {
  Tensor hidden_states = std::move(input);
  const Call call(m, hidden_states);
  Tensor up_states = m["gate_up_proj"](hidden_states), gate;
  std::tie(gate, up_states) = std::tuple_cat(unpack<2>(chunk(up_states, 2, -1)));
  up_states = mul(up_states, m["activation_fn"](gate));
  return call.returns(m["down_proj"](up_states));
}

/// Phi3DecoderLayer.forward
Tensor layer_forward(Module& m, Tensor input, const DecoderInputs& inputs, std::size_t layer) {
  return called(m, std::move(input), [&](Tensor hidden_states) {
    Tensor residual = hidden_states;
    hidden_states = m["input_layernorm"](hidden_states);
    Attended attended = attention(m["self_attn"], hidden_states, inputs, layer);
    hidden_states = std::move(attended.output);  // the weights stay, in self_attn_weights
    hidden_states = add(residual, m["resid_attn_dropout"](hidden_states));
    residual = hidden_states;
    hidden_states = m["post_attention_layernorm"](hidden_states);
    hidden_states = mlp(m["mlp"], hidden_states);
    hidden_states = add(residual, m["resid_mlp_dropout"](hidden_states));
    return hidden_states;
  });
}

Decoder phi3_decoder(const Value& config) {
  auto c = read_config<Phi3Config>(config);
  c.rope.rename_type({"su", "yarn"}, "longrope");
  Decoder decoder = c.decoder();
  check_rotary({"partial_rotary_factor", decoder.rotary_dim});
  decoder.rope.original_length = c.original_max_position_embeddings;
  decoder.residual_dropout = c.resid_pdrop;
  decoder.sliding_window = c.sliding_window;
  decoder.full_attention = !c.sliding_window;
  decoder.add_layer = add_layer;
  decoder.layer = layer_forward;
  return decoder;
}

}  // namespace

std::unique_ptr<Model> make_phi3(const ModelRequest& request) {
  return make_causal_lm(request, phi3_decoder(request.config));
}

}  // namespace tidemark
