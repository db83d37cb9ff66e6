// transformers: models/olmoe/{configuration,modeling}_olmoe.py (5.17.0)
#include <fmt/format.h>

#include "base/error.h"
#include "zoo/causal_lm.h"
#include "zoo/checks.h"
#include "zoo/experts_config.h"
#include "zoo/index.h"

namespace tidemark {
namespace {

struct OlmoeConfig : DecoderConfig {
  ExpertsConfig moe;
  bool attention_bias = false;
  std::optional<double> clip_qkv = {};

  OlmoeConfig() {
    vocab_size = 50304, hidden_size = 2048, intermediate_size = 2048, num_hidden_layers = 16;
    num_attention_heads = 16, max_position_embeddings = 4096, pad_token_id = 1;
    moe.num_experts = 64, moe.num_experts_per_tok = 8;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    DecoderConfig::fields(c, visit);
    ExpertsConfig::visit_fields(c.moe, visit);
    visit_all(visit, kAny, "attention_bias", c.attention_bias, "clip_qkv", c.clip_qkv);
  }
  static KeyNames harmless() { return {"rms_norm_eps", "rope_theta", "router_aux_loss_coef"}; }
};

/// OlmoeAttention: q_norm has hidden_size weights, for the queries of all heads side by side.
void check_norms(const Decoder& c) {
  check_divides({"hidden_size", c.hidden_size}, {"num_attention_heads", c.num_attention_heads});
  const std::int64_t head = c.hidden_size / c.num_attention_heads;
  if (c.head_dim == head) return;
  throw Error(Errc::bad_value,
              fmt::format("{} heads of {} numbers are not the {} of hidden_size, which one norm takes at once",
                          c.num_attention_heads, c.head_dim, c.hidden_size),
              "config.json: head_dim", fmt::format("leave it out, or write {}", head));
}

Decoder olmoe_decoder(const Value& config) {
  auto c = read_config<OlmoeConfig>(config);
  refuse(c.clip_qkv.has_value(), "clip_qkv", "a number");
  c.moe.moe_intermediate_size = c.intermediate_size;
  Decoder decoder = c.decoder();
  check_norms(decoder);
  decoder.qkv_bias = decoder.output_bias = c.attention_bias;
  decoder.qk_norm = decoder.norms_before_heads = decoder.projects_first = true;
  decoder.experts = c.moe.experts();
  return decoder;
}

}  // namespace

std::unique_ptr<Model> make_olmoe(const ModelRequest& request) {
  return make_causal_lm(request, olmoe_decoder(request.config));
}

}  // namespace tidemark
