// The caching allocator's sizes and how a request is rounded.
// torch 2.11.0: c10/core/AllocatorConfig.h (constants), c10/cuda/CUDACachingAllocator.cpp (round_size,
// get_allocation_size).
#pragma once
#include <bit>
#include <cstdint>

#include "memory/allocator_settings.h"

namespace tidemark {

inline constexpr std::int64_t kMinBlockBytes = 512;            // kMinBlockSize: every block is a multiple of it
inline constexpr std::int64_t kSmallBytes = 1 << 20;           // kSmallSize: the largest request of the small pool
inline constexpr std::int64_t kSmallSegmentBytes = 2 << 20;    // kSmallBuffer: a segment of the small pool
inline constexpr std::int64_t kMinLargeAllocBytes = 10 << 20;  // kMinLargeAlloc: below it, a large segment is shared
inline constexpr std::int64_t kLargeRoundingBytes = 2
                                                    << 20;  // kRoundLarge: from there on, segments are multiples of it
inline constexpr std::int64_t kTooManyBytes = std::int64_t{1} << 60;  // one_exa_bytes: refused before anything is tried

/// roundup_power2_next_division: the powers of two around `bytes` in `divisions` equal steps, and the next step.
inline std::int64_t round_to_division(std::int64_t bytes, std::int64_t divisions) {
  const auto value = static_cast<std::uint64_t>(bytes);
  if (std::has_single_bit(value)) return bytes;
  const std::uint64_t step = std::bit_floor(value) >> std::countr_zero(static_cast<std::uint64_t>(divisions));
  const std::uint64_t floor = value & ~(step - 1);
  return static_cast<std::int64_t>(floor == value ? value : floor + step);
}

/// round_size: the block that a request takes, for 0 < bytes < kTooManyBytes.
inline std::int64_t round_size(std::int64_t bytes, const AllocatorSettings& settings) {
  if (bytes < kMinBlockBytes) return kMinBlockBytes;
  const std::int64_t divisions = settings.divisions_for(bytes);
  // bytes > kMinBlockBytes * divisions, without the product
  if (divisions > 1 && (bytes - 1) / kMinBlockBytes >= divisions) return round_to_division(bytes, divisions);
  return (bytes + kMinBlockBytes - 1) / kMinBlockBytes * kMinBlockBytes;
}

/// get_allocation_size: the segment that is asked of the driver when no cached block fits.
inline std::int64_t segment_size(std::int64_t block_bytes, const AllocatorSettings& settings) {
  if (block_bytes <= kSmallBytes) return kSmallSegmentBytes;
  if (block_bytes < kMinLargeAllocBytes) return settings.large_segment_bytes;
  return (block_bytes + kLargeRoundingBytes - 1) / kLargeRoundingBytes * kLargeRoundingBytes;
}

}  // namespace tidemark
