// Options of GRPOTrainer that change memory.
#pragma once
#include <cstdint>

namespace tidemark {

/// GRPOConfig.loss_type
enum class PolicyLoss { dapo, grpo, bnpo, dr_grpo };

struct GrpoOptions {
  std::int64_t completion_tokens = 0;  // of each sample, behind its prompt
  std::int64_t num_generations = 1;    // completions of a prompt
  bool has_reference = false;          // beta is not 0
  bool use_vllm = false;               // vLLM samples: old_per_token_logps are computed
  PolicyLoss loss_type = PolicyLoss::dapo;
  bool of_sequence = false;  // importance_sampling_level
};

}  // namespace tidemark
