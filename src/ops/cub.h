// Temporary storage of CUB's device-wide algorithms, as torch 2.11.0 is compiled with them.
#pragma once
#include <cstdint>

namespace tidemark {

/// cub/util_device.cuh aligns each part to 256 bytes.
constexpr std::int64_t cub_aligned(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

/// cub/device/dispatch/dispatch_{unique_by_key,scan}.cuh: a state (a flag and a number, as wide as the number) per tile and
/// 32 more, one part besides, and 255 for the start.
constexpr std::int64_t cub_tiles_bytes(std::int64_t count, std::int64_t tile, std::int64_t number_bytes = 8) {
  return cub_aligned(((count + tile - 1) / tile + 32) * 2 * number_bytes) + 256 + 255;
}

/// A sum over all that comes before; the same on every card.
constexpr std::int64_t cub_scan_bytes(std::int64_t count, std::int64_t number_bytes = 8) {
  return cub_tiles_bytes(count, 896, number_bytes);
}

}  // namespace tidemark
