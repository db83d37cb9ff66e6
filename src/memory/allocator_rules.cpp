#include "memory/allocator_rules.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/release.h"

namespace tidemark {
namespace {

/// Settings that move no device memory, in the order in which releases brought them: pinned host memory, locks, graph
/// capture, addresses that are set aside.  torch: c10/core/AllocatorConfig.cpp, getMutableKeys;
/// c10/cuda/CUDAAllocatorConfig.h, getKeys
constexpr std::array<std::string_view, 13> kWithoutEffect{"pinned_use_background_threads",
                                                          "pinned_use_cuda_host_register",
                                                          "pinned_use_hip_host_register",
                                                          "pinned_num_register_threads",
                                                          "release_lock_on_cudamalloc",
                                                          "release_lock_on_hipmalloc",  // 2.6
                                                          "pinned_reserve_segment_size_mb",
                                                          "graph_capture_record_stream_reuse",  // 2.11
                                                          "pinned_free_catch_all",              // 2.12
                                                          "pinned_max_round_threshold_mb",
                                                          "pinned_max_cached_size_mb",  // 2.13
                                                          "expandable_segments_reserve",
                                                          "expandable_segments_reserve_by_class"};  // 2.15

constexpr std::span<const std::string_view> first(std::size_t count) { return std::span(kWithoutEffect).first(count); }

/// torch: c10/cuda/CUDACachingAllocator.cpp, DeviceCachingAllocator::malloc
constexpr std::string_view kAdvice =
    "If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to "
    "avoid fragmentation.  See documentation for Memory Management  "
    "(https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)";
constexpr std::string_view kNewAdvice =
    "If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to "
    "avoid fragmentation.  See documentation for Memory Management  "
    "(https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)";
constexpr std::string_view kAdviceWhenExpandable =
    "expandable_segments is enabled. If instead the process is running out of virtual address space (VSZ), expandable "
    "segments may be over-reserving VA (each segment reserves ~9/8 of device memory, times the number of streams); "
    "reduce it via PYTORCH_CUDA_ALLOC_CONF expandable_segments_reserve / expandable_segments_reserve_by_class.";

struct Row {
  Release release;
  AllocatorRules rules;
};

constexpr std::array<Row, 6> kRows{{
    {{2, 6},
     {.torch = "2.6",
      .split_limit_excludes_large_segment = true,
      .rest_replaces_last_interval = true,
      .has_newer_settings = false,
      .settings_without_effect = first(6),
      .advice = kAdvice}},
    {{2, 11}, {.torch = "2.11", .settings_without_effect = first(8), .advice = kNewAdvice}},
    {{2, 12},
     {.torch = "2.12",
      .equal_blocks = EqualBlocks::first_made,
      .has_early_refusal = true,
      .settings_without_effect = first(9),
      .advice = kNewAdvice}},
    {{2, 13},
     {.torch = "2.13",
      .equal_blocks = EqualBlocks::first_segment,
      .has_early_refusal = true,
      .settings_without_effect = first(11),
      .advice = kNewAdvice}},
    {{2, 14},
     {.torch = "2.14",
      .equal_blocks = EqualBlocks::first_segment,
      .has_early_refusal = true,
      .settings_without_effect = first(11),
      .advice = kNewAdvice,
      .advice_when_expandable = {}}},
    {{2, 15},
     {.torch = "2.15",
      .equal_blocks = EqualBlocks::first_segment,
      .has_early_refusal = true,
      .settings_without_effect = first(13),
      .advice = kNewAdvice,
      .advice_when_expandable = kAdviceWhenExpandable}},
}};

}  // namespace

const AllocatorRules& allocator_rules(std::string_view torch_version) {
  const std::optional<Release> release = release_of(torch_version);
  for (const Row& row : kRows)
    if (release && row.release == *release) return row.rules;
  if (release && *release > kRows.back().release) return kRows.back().rules;
  throw Error(Errc::unsupported,
              fmt::format("the caching allocator of torch {} has not been compared with ours", torch_version), "torch",
              "2.6 has been, and 2.11 to 2.15");
}

const AllocatorRules& allocator_rules() { return allocator_rules("2.11"); }

}  // namespace tidemark
