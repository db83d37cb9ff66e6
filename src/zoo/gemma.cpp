// transformers: models/gemma/{configuration,modeling}_gemma.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/hf_config.h"
#include "zoo/index.h"

namespace tidemark {
namespace {

struct GemmaConfig {
  std::int64_t vocab_size = 256000, hidden_size = 3072, intermediate_size = 24576, num_hidden_layers = 28;
  std::int64_t num_attention_heads = 16, num_key_value_heads = 16, head_dim = 256;
  std::string hidden_act = "gelu_pytorch_tanh";
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
    visit("hidden_act", c.hidden_act, kAny);
    visit("tie_word_embeddings", c.tie_word_embeddings, kAny);
    visit("attention_bias", c.attention_bias, kAny);
    visit("attention_dropout", c.attention_dropout, kProbability);
    visit("use_bidirectional_attention", c.use_bidirectional_attention, kAny);
    RopeConfig::visit_fields(c.rope, visit);
  }
  static KeyNames harmless() {  // hidden_activation: older files have it beside hidden_act, and it is not read
    return {"max_position_embeddings", "rms_norm_eps", "rope_theta", "hidden_activation"};
  }
};

}  // namespace

std::unique_ptr<Model> make_gemma(const ModelRequest& request) {
  const auto c = read_config<GemmaConfig>(request.config);
  refuse(c.rope.rotated() != 1, "partial_rotary_factor", "not 1");
  refuse(c.use_bidirectional_attention.value_or(false), "use_bidirectional_attention", "true");
  const Decoder decoder{.vocab_size = c.vocab_size,
                        .hidden_size = c.hidden_size,
                        .intermediate_size = c.intermediate_size,
                        .num_hidden_layers = c.num_hidden_layers,
                        .num_attention_heads = c.num_attention_heads,
                        .num_key_value_heads = c.num_key_value_heads,
                        .head_dim = c.head_dim,
                        .qkv_bias = c.attention_bias,
                        .output_bias = c.attention_bias,
                        .hidden_act = c.hidden_act,
                        .attention_dropout = c.attention_dropout,
                        .gemma_norm = true,
                        .scaled_embedding = true};
  return make_causal_lm(request, decoder, c.tie_word_embeddings);
}

}  // namespace tidemark
