// transformers: models/mistral/{configuration,modeling}_mistral.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/hf_config.h"
#include "zoo/index.h"

namespace tidemark {
namespace {

struct MistralConfig {
  std::int64_t vocab_size = 32000, hidden_size = 4096, intermediate_size = 14336, num_hidden_layers = 32;
  std::int64_t num_attention_heads = 32;
  std::optional<std::int64_t> num_key_value_heads = 8, head_dim, sliding_window = 4096;
  std::string hidden_act = "silu";
  bool tie_word_embeddings = false;
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
    visit("hidden_act", c.hidden_act, kAny);
    visit("tie_word_embeddings", c.tie_word_embeddings, kAny);
    visit("attention_dropout", c.attention_dropout, kProbability);
    visit("sliding_window", c.sliding_window, kSize);
    RopeConfig::visit_fields(c.rope, visit);
  }
  static KeyNames harmless() { return {"max_position_embeddings", "rms_norm_eps", "rope_theta"}; }
};

}  // namespace

std::unique_ptr<Model> make_mistral(const ModelRequest& request) {
  const auto c = read_config<MistralConfig>(request.config);
  refuse(c.rope.rotated() != 1, "partial_rotary_factor", "not 1");
  const Decoder decoder{.vocab_size = c.vocab_size,
                        .hidden_size = c.hidden_size,
                        .intermediate_size = c.intermediate_size,
                        .num_hidden_layers = c.num_hidden_layers,
                        .num_attention_heads = c.num_attention_heads,
                        .num_key_value_heads = c.num_key_value_heads.value_or(c.num_attention_heads),
                        .head_dim = c.head_dim.value_or(c.hidden_size / c.num_attention_heads),
                        .hidden_act = c.hidden_act,
                        .attention_dropout = c.attention_dropout,
                        .sliding_window = c.sliding_window,
                        .full_attention = !c.sliding_window};
  return make_causal_lm(request, decoder, c.tie_word_embeddings);
}

}  // namespace tidemark
