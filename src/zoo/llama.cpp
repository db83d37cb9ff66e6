// transformers: models/llama/{configuration,modeling}_llama.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/hf_config.h"
#include "zoo/index.h"

namespace tidemark {
namespace {

struct LlamaConfig {
  std::int64_t vocab_size = 32000, hidden_size = 4096, intermediate_size = 11008, num_hidden_layers = 32;
  std::int64_t num_attention_heads = 32, max_position_embeddings = 2048;
  std::optional<std::int64_t> num_key_value_heads, head_dim;
  std::string hidden_act = "silu";
  bool tie_word_embeddings = false, attention_bias = false, mlp_bias = false;
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
    visit("max_position_embeddings", c.max_position_embeddings, kSize);
    visit("hidden_act", c.hidden_act, kAny);
    visit("tie_word_embeddings", c.tie_word_embeddings, kAny);
    visit("attention_bias", c.attention_bias, kAny);
    visit("mlp_bias", c.mlp_bias, kAny);
    visit("attention_dropout", c.attention_dropout, kProbability);
    RopeConfig::visit_fields(c.rope, visit);
  }
  static KeyNames harmless() { return {"rms_norm_eps", "rope_theta"}; }
};

}  // namespace

Decoder llama_decoder(const Value& config) {
  const auto c = read_config<LlamaConfig>(config);
  refuse(c.rope.rotated() != 1, "partial_rotary_factor", "not 1");
  check_divides({"hidden_size", c.hidden_size}, {"num_attention_heads", c.num_attention_heads});
  return {.vocab_size = c.vocab_size,
          .hidden_size = c.hidden_size,
          .intermediate_size = c.intermediate_size,
          .num_hidden_layers = c.num_hidden_layers,
          .num_attention_heads = c.num_attention_heads,
          .num_key_value_heads = c.num_key_value_heads.value_or(c.num_attention_heads),
          .head_dim = c.head_dim.value_or(c.hidden_size / c.num_attention_heads),
          .qkv_bias = c.attention_bias,
          .output_bias = c.attention_bias,
          .mlp_bias = c.mlp_bias,
          .hidden_act = c.hidden_act,
          .attention_dropout = c.attention_dropout};
}

std::unique_ptr<Model> make_llama(const ModelRequest& request) {
  return make_causal_lm(request, llama_decoder(request.config), read_config<LlamaConfig>(request.config).tie_word_embeddings);
}

}  // namespace tidemark
