// Mixtures of experts: a router chooses a few experts for each token, and their outputs are added. transformers 5.17.0:
// integrations/moe.py, models/mixtral/modeling_mixtral.py and the families made from it.
#pragma once
#include <memory>

#include "nn/context.h"
#include "nn/module.h"

namespace tidemark {

/// E experts, of which each token takes `per_token`; F the width of one.
struct Experts {
  std::int64_t count = 0, per_token = 0, width = 0;  // no experts: 0
  std::int64_t shared_width = 0;                     // of one that every token takes besides, with a gate of its own
  bool scores_in_f32 = false;                        // else in the type of the logits
  bool normalized = true;                            // the scores of a token's experts add up to 1
  bool router_first = true;                          // registered in front of the experts
  bool jitter = false;                               // noise on what is routed
  bool output_router_logits = false;
};

/// How many rows of a router's top-k choose each expert, where `skew` of them choose the first (nn/routing.h).
std::vector<std::int64_t> tokens_per_expert(std::int64_t rows, const Experts& experts, double skew);

/// transformers: utils/output_capturing.py: what hooks on modules collect while the model's forward runs, and not when
/// a checkpoint runs a layer again.
struct CapturedOutputs {
  bool active = true;
  std::vector<Tensor> router_logits;
};

/// gate and experts, and a shared expert with its gate.
void add_sparse_moe_block(Module& layer, const Experts& c, std::int64_t hidden_size, std::string_view hidden_act);

/// MixtralSparseMoeBlock.forward: x (B, S, D) -> (B, S, D)
Tensor sparse_moe_block(Module& m, Tensor hidden_states, const Experts& c, const Context& context,
                        CapturedOutputs* captured);

/// load_balancing_loss_func: logits (B * S, E) of each layer, attention_mask (B, S)
Tensor load_balancing_loss(const std::vector<Tensor>& gate_logits, const Experts& c, const Tensor& attention_mask);

}  // namespace tidemark
