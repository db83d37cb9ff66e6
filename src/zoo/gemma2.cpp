// transformers: models/gemma2/{configuration,modeling}_gemma2.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/index.h"
#include "zoo/text_config.h"
#include "zoo/windows.h"

namespace tidemark {
namespace {

struct Gemma2Config : DecoderConfig {
  static constexpr TextConfigNames kNames{.hidden_act = "hidden_activation"};
  bool attention_bias = false;
  std::optional<bool> use_bidirectional_attention;
  std::optional<std::int64_t> sliding_window = 4096;
  std::optional<std::vector<std::string>> layer_types;
  std::optional<double> final_logit_softcapping = 30, attn_logit_softcapping = 50;

  Gemma2Config() {
    vocab_size = 256000, hidden_size = 2304, intermediate_size = 9216, num_hidden_layers = 26;
    num_attention_heads = 8, num_key_value_heads = 4, head_dim = 256;
    hidden_act = "gelu_pytorch_tanh", tie_word_embeddings = true, pad_token_id = 0;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    DecoderConfig::fields(c, visit);
    visit("sliding_window", c.sliding_window, kSize);
    visit_all(visit, kAny, "attention_bias", c.attention_bias, "use_bidirectional_attention",
              c.use_bidirectional_attention, "layer_types", c.layer_types, "final_logit_softcapping",
              c.final_logit_softcapping, "attn_logit_softcapping", c.attn_logit_softcapping);
  }
  static KeyNames harmless() {
    return {"rms_norm_eps", "rope_theta", "query_pre_attn_scalar"};
  }
};

void add_layer(Module& layer, const Decoder& c) {
  add_decoder_layer(layer, c);
  add_norm(layer, "pre_feedforward_layernorm", c.hidden_size, c);
  add_norm(layer, "post_feedforward_layernorm", c.hidden_size, c);
}

/// Gemma2DecoderLayer.forward
Tensor layer_forward(Module& m, Tensor input, const DecoderInputs& inputs, std::size_t layer) {
  return called(m, std::move(input), [&](Tensor hidden_states) {
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
  });
}

}  // namespace

Decoder gemma2_decoder(const Value& config) {
  const auto c = read_config<Gemma2Config>(config);
  refuse(c.use_bidirectional_attention.value_or(false), "use_bidirectional_attention", "true");
  refuse(!c.sliding_window, "sliding_window", "null");
  check_divides({"hidden_size", c.hidden_size}, {"num_attention_heads", c.num_attention_heads});
  Decoder decoder = c.decoder();
  decoder.qkv_bias = decoder.output_bias = c.attention_bias;
  decoder.gemma_norm = decoder.scaled_embedding = true;
  decoder.attention_softcap = c.attn_logit_softcapping.has_value();
  decoder.logit_softcap = c.final_logit_softcapping.has_value();
  decoder.add_layer = add_layer;
  decoder.layer = layer_forward;
  set_layer_types(
      decoder, c.layer_types, c.sliding_window, [](std::int64_t layer, std::int64_t) { return layer % 2 == 0; }, 0);
  decoder.sliding_window = c.sliding_window;  // its mask is made, used or not
  return decoder;
}

std::unique_ptr<Model> make_gemma2(const ModelRequest& request) {
  return make_causal_lm(request, gemma2_decoder(request.config));
}

}  // namespace tidemark
