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
  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

template <class Self, class Visit>
void GeminiSpec::fields(Self& self, Visit&& visit) {
  using namespace spec_detail;
  const std::string_view group = "Many GPUs";
  const auto number = [group](std::string_view help, double low, double high) {
    return FieldInfo{.help = help, .placeholder = "X", .group = group, .low = low, .high = high};
  };
  visit("placement_policy", self.placement_policy,
        choice(group, "Who decides where chunks lie (auto is not known)", kPlacementPolicyNames));
  visit("shard_param_frac", self.shard_param_frac,
        number("Share of the parameters that are let go of behind an operation, counted as Gemini counts", 0, 1));
  visit("offload_optim_frac", self.offload_optim_frac,
        number("Share of the optimizer's states on the host (above 0 is not known)", 0, 1));
  visit("offload_param_frac", self.offload_param_frac,
        number("Share of the parameters on the host (above 0 is not known)", 0, 1));
  visit("min_chunk_size_m", self.min_chunk_size_m,
        number("Least size of a chunk in 2^20 elements; a smaller model is one chunk that is never cut", 1e-6, 1e6));
  visit("search_range_m", self.search_range_m,
        number("How much larger than the least chunks may be, in 2^20 elements", 0, 1e4));
  visit("hidden_dim", self.hidden_dim, whole(group, "Steps of the search, in elements (default: 1024)", 1, 1 << 30));
  visit("max_prefetch", self.max_prefetch,
        whole(group, "Chunks that are gathered ahead (above 0 is not known)", 0, 1 << 16));
  visit("precision", self.precision, choice(group, "Type of the parameters' chunks", kGeminiPrecisionNames));
  visit("master_weights", self.master_weights,
        FieldInfo{.help = "The optimizer has float32 copies",
                  .group = group,
                  .negated = "The optimizer updates the parameters themselves (not known)"});
  visit("enable_gradient_accumulation", self.enable_gradient_accumulation,
        text(group, "Gradients have chunks of their own, which grad_accumulation needs"));
  visit("enable_async_reduce", self.enable_async_reduce,
        FieldInfo{.help = "Gradients are reduced on a stream of their own",
                  .group = group,
                  .negated = "Gradients are reduced on the stream of the computation"});
  visit("pin_memory", self.pin_memory,
        FieldInfo{.help = "Chunks have a pinned copy on the host, which takes nothing of the card",
                  .group = group,
                  .negated = "Chunks have no copy on the host"});
}

}  // namespace tidemark
