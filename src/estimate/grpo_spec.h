// Options of GRPOTrainer in a spec.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "base/fields.h"
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
  static void fields(GrpoSpec& self, const FieldVisitor& visit);
};

}  // namespace tidemark
