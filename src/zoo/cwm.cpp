// transformers: models/cwm/{configuration,modeling}_cwm.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/hf_config.h"
#include "zoo/index.h"
#include "zoo/windows.h"

namespace tidemark {
namespace {

struct CwmConfig {
  std::int64_t vocab_size = 128256, hidden_size = 6144, intermediate_size = 21504, num_hidden_layers = 64,
      num_attention_heads = 48, num_key_value_heads = 8, head_dim = 128, sliding_window = 8192;
  std::string hidden_act = "silu";
  bool tie_word_embeddings = false, mlp_bias = false;
  double attention_dropout = 0.0;
  std::optional<std::vector<std::string>> layer_types;
  RopeConfig rope;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit("vocab_size", c.vocab_size, kSize);
    visit("hidden_size", c.hidden_size, kSize);
    visit("intermediate_size", c.intermediate_size, kSize);
    visit("num_hidden_layers", c.num_hidden_layers, kLayers);
    visit("num_attention_heads", c.num_attention_heads, kSize);
    visit("num_key_value_heads", c.num_key_value_heads, kSize);
    visit("hidden_act", c.hidden_act, kAny);
    visit("tie_word_embeddings", c.tie_word_embeddings, kAny);
    visit("attention_dropout", c.attention_dropout, kProbability);
    visit("mlp_bias", c.mlp_bias, kAny);
    visit("head_dim", c.head_dim, kSize);
    visit("sliding_window", c.sliding_window, kSize);
    visit("layer_types", c.layer_types, kAny);
    RopeConfig::visit_fields(c.rope, visit);
  }
  static KeyNames harmless() { return {"max_position_embeddings", "rms_norm_eps"}; }
};

}  // namespace

std::unique_ptr<Model> make_cwm(const ModelRequest& request) {
  const auto c = read_config<CwmConfig>(request.config);
  refuse(c.rope.rotated() != 1, "partial_rotary_factor", "not 1");
  check_divides({"hidden_size", c.hidden_size}, {"num_attention_heads", c.num_attention_heads});
  Decoder decoder{.vocab_size = c.vocab_size,
                  .hidden_size = c.hidden_size,
                  .intermediate_size = c.intermediate_size,
                  .num_hidden_layers = c.num_hidden_layers,
                  .num_attention_heads = c.num_attention_heads,
                  .num_key_value_heads = c.num_key_value_heads,
                  .head_dim = c.head_dim,
                  .mlp_bias = c.mlp_bias,
                  .hidden_act = c.hidden_act,
                  .attention_dropout = c.attention_dropout};
  set_layer_types(decoder, c.layer_types, c.sliding_window,
                  [](std::int64_t layer, std::int64_t period) { return layer % period != 0; }, 4);
  return make_causal_lm(request, decoder, c.tie_word_embeddings);
}

}  // namespace tidemark
