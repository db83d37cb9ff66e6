// Temporary storage of CUB's device-wide algorithms, as torch 2.11.0 is compiled with them.
#pragma once
#include <cstdint>

#include "memory/card.h"

namespace tidemark {

/// cub/util_device.cuh aligns each part to 256 bytes.
constexpr std::int64_t cub_aligned(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

/// cub/device/dispatch/dispatch_{unique_by_key,scan}.cuh: a state (a flag and a number, as wide as the number) per tile
/// and 32 more, one part besides, and 255 for the start.
constexpr std::int64_t cub_tiles_bytes(std::int64_t count, std::int64_t tile, std::int64_t number_bytes = 8) {
  return cub_aligned(((count + tile - 1) / tile + 32) * 2 * number_bytes) + 256 + 255;
}

/// A sum over all that comes before; the same on every card.
constexpr std::int64_t cub_scan_bytes(std::int64_t count, std::int64_t number_bytes = 8) {
  return cub_tiles_bytes(count, 896, number_bytes);
}

/// The bytes of an int64 key below `limit` that differ.  torch: aten/src/ATen/cuda/cub.cuh, get_num_bits
constexpr std::int64_t cub_sort_passes(std::int64_t limit) {
  std::int64_t passes = 1;
  while (passes < 8 && limit >> (8 * passes) != 0) ++passes;
  return passes;
}

/// cub/device/dispatch/dispatch_radix_sort.cuh: pairs of int64 keys, of which `passes` bytes are looked at, and int64
/// values.  Nothing for what one block sorts; else InvokeOnesweep: counts of each pass, look-back states, the other
/// buffers where there is more than one pass, a counter per pass.
inline std::int64_t cub_sort_bytes(std::int64_t count, std::int64_t passes, const Card& card) {
  constexpr std::int64_t kOneBlock = 256 * 9, kDigits = 256;
  if (count <= kOneBlock) return 1;
  const std::int64_t major = card.compute_capability_major;
  const std::int64_t tile = major >= 9 ? 384 * 12 : major == 8 ? 384 * 10 : 256 * 11;  // tuning_radix_sort.cuh
  const std::int64_t others = passes > 1 ? 2 * cub_aligned(count * 8) : 0;
  return kDigits * passes * 8 + (count + tile - 1) / tile * kDigits * 4 + others + 256 + 255;
}

}  // namespace tidemark
