// The options of Colossal-AI's Gemini, by the names of GeminiPlugin's arguments: a part of estimate/spec.h.
#pragma once
#include <array>
#include <optional>
#include <string_view>

#include "estimate/parallel_spec.h"

namespace tidemark {

inline constexpr std::array<std::string_view, 2> kPlacementPolicyNames{"static", "auto"};
enum class PlacementPolicy { fixed, automatic };
inline constexpr std::array<std::string_view, 2> kGeminiPrecisionNames{"fp16", "bf16"};
enum class GeminiPrecision { fp16, bf16 };

/// What is not here has its default there.
struct GeminiSpec {
  PlacementPolicy placement_policy = PlacementPolicy::fixed;
  double shard_param_frac = 1, offload_optim_frac = 0, offload_param_frac = 0;
  double min_chunk_size_m = 32, search_range_m = 32;
  std::optional<std::int64_t> hidden_dim;
  std::int64_t max_prefetch = 0;
  GeminiPrecision precision = GeminiPrecision::fp16;
  bool master_weights = true, enable_gradient_accumulation = false;
  bool enable_async_reduce = true, pin_memory = true;

  bool operator==(const GeminiSpec&) const = default;
  static void fields(GeminiSpec& self, const FieldVisitor& visit);
};

}  // namespace tidemark
