// transformers: models/qwen2_moe/{configuration,modeling}_qwen2_moe.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/experts_config.h"
#include "zoo/index.h"
#include "zoo/windows.h"

namespace tidemark {
namespace {

struct Qwen2MoeConfig : LateWindowsConfig {
  ExpertsConfig moe;
  std::int64_t shared_expert_intermediate_size = 5632;
  bool qkv_bias = true;

  Qwen2MoeConfig() {
    hidden_size = 2048, intermediate_size = 5632, num_hidden_layers = 24, num_attention_heads = 16;
    num_key_value_heads = 16, max_position_embeddings = 32768;
    moe.num_experts = 60, moe.num_experts_per_tok = 4, moe.moe_intermediate_size = 1408;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    LateWindowsConfig::fields(c, visit);
    ExpertsConfig::visit_fields(c.moe, visit);
    ExpertsConfig::visit_layer_fields(c.moe, visit);
    visit("shared_expert_intermediate_size", c.shared_expert_intermediate_size, kSize);
    visit("qkv_bias", c.qkv_bias, kAny);
  }
  static KeyNames harmless() { return {"rms_norm_eps", "rope_theta", "router_aux_loss_coef"}; }
};

/// Windows are in every other layer up to max_window_layers; a mask for them is made in any case, of 0 tokens when none
/// are asked for.
Decoder qwen2_moe_decoder(const Value& config) {
  const auto c = read_config<Qwen2MoeConfig>(config);
  Decoder decoder = c.DecoderConfig::decoder();
  const bool slides = c.use_sliding_window.value_or(false);
  set_layer_types(
      decoder, c.layer_types, slides ? c.sliding_window : std::nullopt,
      [](std::int64_t layer, std::int64_t until) { return layer % 2 == 0 && layer < until; }, c.max_window_layers);
  decoder.sliding_window = slides ? c.sliding_window : 0;
  decoder.qkv_bias = c.qkv_bias;
  decoder.experts = c.moe.experts();
  decoder.experts.shared_width = c.shared_expert_intermediate_size;
  decoder.dense_layers = c.moe.dense_layers(c.num_hidden_layers);
  return decoder;
}

}  // namespace

std::unique_ptr<Model> make_qwen2_moe(const ModelRequest& request) {
  return make_causal_lm(request, qwen2_moe_decoder(request.config));
}

}  // namespace tidemark
