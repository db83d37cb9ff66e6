// What the configs of Qwen's mixtures of experts, and of those made like them, have besides a decoder's.
#pragma once
#include "zoo/text_config.h"

namespace tidemark {

struct ExpertsConfig {
  std::int64_t num_experts = 0, num_experts_per_tok = 0, moe_intermediate_size = 0, decoder_sparse_step = 1;
  bool norm_topk_prob = false, output_router_logits = false;
  std::optional<std::vector<std::int64_t>> mlp_only_layers = {};

  /// The keys of all of them.
  template <class Self, class Visit>
  static void visit_fields(Self& c, Visit& visit) {
    visit_all(visit, kSize, "num_experts", c.num_experts, "num_local_experts", c.num_experts,
              "num_experts_per_tok", c.num_experts_per_tok);
    visit_all(visit, kAny, "norm_topk_prob", c.norm_topk_prob, "output_router_logits", c.output_router_logits);
  }
  /// And of those with layers that have none.
  template <class Self, class Visit>
  static void visit_layer_fields(Self& c, Visit& visit) {
    visit_all(visit, kSize, "moe_intermediate_size", c.moe_intermediate_size, "decoder_sparse_step",
              c.decoder_sparse_step);
    visit("mlp_only_layers", c.mlp_only_layers, kAny);
  }
  Experts experts() const {
    return {.count = num_experts,
            .per_token = num_experts_per_tok,
            .width = moe_intermediate_size,
            .normalized = norm_topk_prob,
            .output_router_logits = output_router_logits};
  }
  /// Which layers are dense: those that are named, and those that the step leaves out.
  std::vector<bool> dense_layers(std::int64_t layers) const;
};

}  // namespace tidemark
