// PYTORCH_CUDA_ALLOC_CONF.  torch 2.11.0: c10/core/AllocatorConfig.{h,cpp}, c10/cuda/CUDAAllocatorConfig.{h,cpp}.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string_view>

#include "memory/allocator_rules.h"

namespace tidemark {

struct AllocatorSettings {
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kDefaultLargeSegmentBytes = 20 << 20;  // large_segment_size_
  static constexpr std::size_t kIntervals = 16;  // kRoundUpPowerOfTwoIntervals: 1 MiB, 2 MiB, … and above

  std::int64_t max_split_bytes = kUnlimited;
  std::int64_t max_non_split_rounding_bytes = kDefaultLargeSegmentBytes;
  std::array<std::int64_t, kIntervals> roundup_power2_divisions{};
  double garbage_collection_threshold = 0;
  bool expandable_segments = false;
  std::int64_t large_segment_bytes = kDefaultLargeSegmentBytes;
  double memory_fraction = 1;  // per_process_memory_fraction, or what the program sets

  /// The divisions of the interval that holds `bytes` > 0; sizes below 1 MiB count to the first.
  std::int64_t divisions_for(std::int64_t bytes) const {
    const int log2 = 63 - std::countl_zero(static_cast<std::uint64_t>(bytes));
    return roundup_power2_divisions[static_cast<std::size_t>(
        std::clamp(log2 - 20, 0, static_cast<int>(kIntervals) - 1))];
  }
};

/// Reads "key:value,key:[a:b,>:c]".  Throws Error: usage for what PyTorch refuses, unknown_name with a hint for a key
/// that the release does not have, unsupported for backend:cudaMallocAsync.  Settings that move no device memory are
/// read and dropped.
AllocatorSettings parse_allocator_settings(std::string_view text, const AllocatorRules& rules = allocator_rules());

}  // namespace tidemark
