// transformers: models/qwen3_moe/{configuration,modeling}_qwen3_moe.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/experts_config.h"
#include "zoo/index.h"

namespace tidemark {
namespace {

struct Qwen3MoeConfig : DecoderConfig {
  ExpertsConfig moe;
  bool attention_bias = false, use_sliding_window = false;
  std::optional<std::int64_t> sliding_window = 4096;

  Qwen3MoeConfig() {
    vocab_size = 151936, hidden_size = 2048, intermediate_size = 6144, num_hidden_layers = 24;
    num_attention_heads = 32, num_key_value_heads = 4, max_position_embeddings = 32768;
    moe.num_experts = 128, moe.num_experts_per_tok = 8, moe.moe_intermediate_size = 768;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    DecoderConfig::fields(c, visit);
    ExpertsConfig::visit_fields(c.moe, visit);
    ExpertsConfig::visit_layer_fields(c.moe, visit);
    visit_all(visit, kAny, "attention_bias", c.attention_bias, "use_sliding_window", c.use_sliding_window);
    visit("sliding_window", c.sliding_window, kSize);
  }
  static KeyNames harmless() { return {"rms_norm_eps", "rope_theta", "router_aux_loss_coef"}; }
};

Decoder qwen3_moe_decoder(const Value& config) {
  const auto c = read_config<Qwen3MoeConfig>(config);
  Decoder decoder = c.decoder();
  decoder.qkv_bias = decoder.output_bias = c.attention_bias;
  decoder.qk_norm = true;
  if (c.use_sliding_window) decoder.sliding_window = c.sliding_window;
  decoder.full_attention = !decoder.sliding_window;
  decoder.experts = c.moe.experts();
  decoder.experts.router_first = false;
  decoder.dense_layers = c.moe.dense_layers(c.num_hidden_layers);
  return decoder;
}

}  // namespace

std::unique_ptr<Model> make_qwen3_moe(const ModelRequest& request) {
  return make_causal_lm(request, qwen3_moe_decoder(request.config));
}

}  // namespace tidemark
