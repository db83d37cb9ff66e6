// transformers: models/mixtral/{configuration,modeling}_mixtral.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/index.h"
#include "zoo/text_config.h"

namespace tidemark {
namespace {

struct MixtralConfig : DecoderConfig {
  std::optional<std::int64_t> sliding_window = {};
  std::int64_t num_local_experts = 8, num_experts_per_tok = 2;
  bool output_router_logits = false;
  double router_jitter_noise = 0;

  MixtralConfig() {
    vocab_size = 32000, hidden_size = 4096, intermediate_size = 14336, num_hidden_layers = 32;
    num_attention_heads = 32, num_key_value_heads = 8, max_position_embeddings = 4096 * 32;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    DecoderConfig::fields(c, visit);
    visit_all(visit, kSize, "sliding_window", c.sliding_window, "num_local_experts", c.num_local_experts,
              "num_experts", c.num_local_experts, "num_experts_per_tok", c.num_experts_per_tok);
    visit("output_router_logits", c.output_router_logits, kAny);
    visit("router_jitter_noise", c.router_jitter_noise, kProbability);
  }
  static KeyNames harmless() { return {"rms_norm_eps", "rope_theta", "router_aux_loss_coef"}; }
};

Decoder mixtral_decoder(const Value& config) {
  const auto c = read_config<MixtralConfig>(config);
  Decoder decoder = c.decoder();
  decoder.sliding_window = c.sliding_window;
  decoder.full_attention = !c.sliding_window;
  decoder.experts = {.count = c.num_local_experts,
                     .per_token = c.num_experts_per_tok,
                     .width = c.intermediate_size,
                     .scores_in_f32 = true,
                     .jitter = c.router_jitter_noise > 0,
                     .output_router_logits = c.output_router_logits};
  return decoder;
}

}  // namespace

std::unique_ptr<Model> make_mixtral(const ModelRequest& request) {
  return make_causal_lm(request, mixtral_decoder(request.config));
}

}  // namespace tidemark
