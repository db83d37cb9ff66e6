// Options of GRPOTrainer in a spec.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "estimate/parallel_spec.h"
#include "train/grpo_options.h"

namespace tidemark {

inline constexpr std::array<std::string_view, 4> kPolicyLossNames{"dapo", "grpo", "bnpo", "dr_grpo"};
inline constexpr std::array<std::string_view, 2> kSamplingLevelNames{"token", "sequence"};
enum class SamplingLevel { token, sequence };

/// GRPOConfig; a length or number of 0 is chosen by the batch.
struct GrpoSpec {
  std::int64_t max_completion_length = 0, num_generations = 0;
  double beta = 0;
  bool use_vllm = false;
  double vllm_gpu_memory_utilization = 0;
  PolicyLoss loss_type = PolicyLoss::dapo;
  SamplingLevel importance_sampling_level = SamplingLevel::token;

  bool operator==(const GrpoSpec&) const = default;
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

template <class Self, class Visit>
void GrpoSpec::fields(Self& self, Visit&& visit) {
  using namespace spec_detail;
  const std::string_view group = "Reinforcement learning";
  visit("max_completion_length", self.max_completion_length,
        whole(group, "Tokens of a completion, the last of --seq (512, or half of a shorter one)", 0, 1 << 24));
  visit("num_generations", self.num_generations,
        whole(group, "Completions of each prompt (8, or what divides the batch)", 0, 1 << 20));
  visit("beta", self.beta,
        FieldInfo{.help = "KL coefficient; above 0 a reference scores each completion",
                  .placeholder = "X",
                  .group = group,
                  .low = 0,
                  .high = 1e9});
  visit("use_vllm", self.use_vllm,
        FieldInfo{.help = "vLLM samples, and its log-probabilities are corrected", .group = group});
  visit("vllm_gpu_memory_utilization", self.vllm_gpu_memory_utilization,
        FieldInfo{.help = "Share of the GPU that a colocated vLLM keeps (0: vLLM is elsewhere)",
                  .placeholder = "X",
                  .group = group,
                  .low = 0,
                  .high = 0.99});
  visit("loss_type", self.loss_type, FieldInfo{.help = "Type of the loss", .group = group, .names = kPolicyLossNames});
  visit("importance_sampling_level", self.importance_sampling_level,
        FieldInfo{.help = "Importance ratios per token or per sequence", .group = group, .names = kSamplingLevelNames});
}

}  // namespace tidemark
