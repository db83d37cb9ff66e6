// transformers: models/qwen3/{configuration,modeling}_qwen3.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/hf_config.h"
#include "zoo/index.h"
#include "zoo/windows.h"

namespace tidemark {
namespace {

struct Qwen3Config {
  std::int64_t vocab_size = 151936, hidden_size = 4096, intermediate_size = 22016, num_hidden_layers = 32;
  std::int64_t num_attention_heads = 32, head_dim = 128, max_window_layers = 28;
  std::optional<std::int64_t> num_key_value_heads = 32, sliding_window = 4096;
  std::optional<std::vector<std::string>> layer_types;
  std::string hidden_act = "silu";
  bool tie_word_embeddings = false, attention_bias = false, use_sliding_window = false;
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
    visit("use_sliding_window", c.use_sliding_window, kAny);
    visit("sliding_window", c.sliding_window, kSize);
    visit("max_window_layers", c.max_window_layers, kAny);
    visit("layer_types", c.layer_types, kAny);
    RopeConfig::visit_fields(c.rope, visit);
  }
  static KeyNames harmless() { return {"max_position_embeddings", "rms_norm_eps", "rope_theta"}; }
};

}  // namespace

std::unique_ptr<Model> make_qwen3(const ModelRequest& request) {
  const auto c = read_config<Qwen3Config>(request.config);
  refuse(c.rope.rotated() != 1, "partial_rotary_factor", "not 1");
  Decoder decoder{.vocab_size = c.vocab_size,
                  .hidden_size = c.hidden_size,
                  .intermediate_size = c.intermediate_size,
                  .num_hidden_layers = c.num_hidden_layers,
                  .num_attention_heads = c.num_attention_heads,
                  .num_key_value_heads = c.num_key_value_heads.value_or(c.num_attention_heads),
                  .head_dim = c.head_dim,
                  .qkv_bias = c.attention_bias,
                  .output_bias = c.attention_bias,
                  .qk_norm = true,
                  .hidden_act = c.hidden_act,
                  .attention_dropout = c.attention_dropout};
  set_layer_types(decoder, c.layer_types, c.use_sliding_window ? c.sliding_window : std::nullopt,
                  [](std::int64_t layer, std::int64_t from) { return layer >= from; }, c.max_window_layers);
  return make_causal_lm(request, decoder, c.tie_word_embeddings);
}

}  // namespace tidemark
