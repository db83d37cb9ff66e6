// The ways in which transformers runs experts: integrations/moe.py (5.17.0), and the loop of the models themselves.
#pragma once
#include "nn/module.h"

namespace tidemark {

/// self.experts(hidden_states, top_k_index, top_k_weights): x (N, D), twice (N, k) -> (N, D)
struct ExpertsCall {
  Module& experts;
  const Tensor& hidden_states;
  const Tensor& top_k_index;
  const Tensor& top_k_weights;
};

Tensor grouped_mm_experts(const ExpertsCall& call);
Tensor batched_mm_experts(const ExpertsCall& call);
/// `tokens`: how many of them choose each expert, which the host reads.
Tensor eager_experts(const ExpertsCall& call, const std::vector<std::int64_t>& tokens);

}  // namespace tidemark
