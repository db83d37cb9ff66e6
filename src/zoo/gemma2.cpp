// transformers: models/gemma2/{configuration,modeling}_gemma2.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/hf_config.h"
#include "zoo/index.h"
#include "zoo/windows.h"

namespace tidemark {
namespace {

struct Gemma2Config {
  std::int64_t vocab_size = 256000, hidden_size = 2304, intermediate_size = 9216, num_hidden_layers = 26;
  std::int64_t num_attention_heads = 8, num_key_value_heads = 4, head_dim = 256;
  std::optional<std::int64_t> sliding_window = 4096;
  std::optional<std::vector<std::string>> layer_types;
  std::optional<double> final_logit_softcapping = 30, attn_logit_softcapping = 50;
  std::string hidden_activation = "gelu_pytorch_tanh";
  bool tie_word_embeddings = true, attention_bias = false;
  std::optional<bool> use_bidirectional_attention;
  double attention_dropout = 0;
  RopeConfig rope;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit("vocab_size", c.vocab_size, kSize);
    visit("hidden_size", c.hidden_size, kSize);
    visit("intermediate_size", c.intermediate_size, kSize);
    visit("num_hidden_layers", c.num_hidden_layers, kLayers);
    visit("num_attention_heads", c.num_attention_heads, kSize);
    visit("num_key_value_heads", c.num_key_value_heads, kSize);
    visit("head_dim", c.head_dim, kSize);
    visit("hidden_activation", c.hidden_activation, kAny);
    visit("tie_word_embeddings", c.tie_word_embeddings, kAny);
    visit("attention_bias", c.attention_bias, kAny);
    visit("attention_dropout", c.attention_dropout, kProbability);
    visit("sliding_window", c.sliding_window, kSize);
    visit("layer_types", c.layer_types, kAny);
    visit("final_logit_softcapping", c.final_logit_softcapping, kAny);
    visit("attn_logit_softcapping", c.attn_logit_softcapping, kAny);
    visit("use_bidirectional_attention", c.use_bidirectional_attention, kAny);
    RopeConfig::visit_fields(c.rope, visit);
  }
  static KeyNames harmless() {
    return {"max_position_embeddings", "rms_norm_eps", "rope_theta", "query_pre_attn_scalar", "hidden_act",
            "cache_implementation"};
  }
};

void add_layer(Module& layer, const Decoder& c) {
  add_decoder_layer(layer, c);
  add_norm(layer, "pre_feedforward_layernorm", c.hidden_size, c);
  add_norm(layer, "post_feedforward_layernorm", c.hidden_size, c);
}

/// Gemma2DecoderLayer.forward
Tensor layer_forward(Module& m, Tensor input, const DecoderInputs& inputs, std::size_t layer) {
  Tensor hidden_states = std::move(input);
  const InModule scope(hidden_states.run(), m);
  Tensor residual = hidden_states;
  hidden_states = m["input_layernorm"](hidden_states);
  Attended attended = decoder_attention(m["self_attn"], hidden_states, inputs, layer);
  hidden_states = std::move(attended.output);  // the weights stay, in `_`
  hidden_states = m["post_attention_layernorm"](hidden_states);
  hidden_states = add(residual, hidden_states);
  residual = hidden_states;
  hidden_states = m["pre_feedforward_layernorm"](hidden_states);
  hidden_states = gated_mlp(m["mlp"], hidden_states);
  hidden_states = m["post_feedforward_layernorm"](hidden_states);
  hidden_states = add(residual, hidden_states);
  return hidden_states;
}

}  // namespace

std::unique_ptr<Model> make_gemma2(const ModelRequest& request) {
  const auto c = read_config<Gemma2Config>(request.config);
  refuse(c.rope.rotated() != 1, "partial_rotary_factor", "not 1");
  refuse(c.use_bidirectional_attention.value_or(false), "use_bidirectional_attention", "true");
  refuse(!c.sliding_window, "sliding_window", "null");
  check_divides({"hidden_size", c.hidden_size}, {"num_attention_heads", c.num_attention_heads});
  Decoder decoder{.vocab_size = c.vocab_size,
                  .hidden_size = c.hidden_size,
                  .intermediate_size = c.intermediate_size,
                  .num_hidden_layers = c.num_hidden_layers,
                  .num_attention_heads = c.num_attention_heads,
                  .num_key_value_heads = c.num_key_value_heads,
                  .head_dim = c.head_dim,
                  .qkv_bias = c.attention_bias,
                  .output_bias = c.attention_bias,
                  .hidden_act = c.hidden_activation,
                  .attention_dropout = c.attention_dropout,
                  .gemma_norm = true,
                  .scaled_embedding = true,
                  .attention_softcap = c.attn_logit_softcapping.has_value(),
                  .logit_softcap = c.final_logit_softcapping.has_value(),
                  .add_layer = add_layer,
                  .layer = layer_forward};
  set_layer_types(decoder, c.layer_types, c.sliding_window,
                  [](std::int64_t layer, std::int64_t) { return layer % 2 == 0; }, 0);
  decoder.sliding_window = c.sliding_window;  // its mask is made, used or not
  return make_causal_lm(request, decoder, c.tie_word_embeddings);
}

}  // namespace tidemark
