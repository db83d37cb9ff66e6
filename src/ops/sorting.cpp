#include "ops/sorting.h"

namespace tidemark {
namespace {

constexpr std::int64_t div_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t aligned(std::int64_t bytes) { return div_up(bytes, 256) * 256; }

}  // namespace

/// cub/device/dispatch/dispatch_radix_sort.cuh: nothing for what one block sorts; else InvokeOnesweep: counts of each
/// pass, look-back states, the other buffers, a counter per pass.  cub/util_device.cuh aligns each part to 256 bytes and
/// adds 255 for the start.
std::int64_t radix_sort_scratch(std::int64_t count, std::int64_t passes, const Card& card) {
  constexpr std::int64_t kOneBlock = 256 * 9, kDigits = 256;
  if (count <= kOneBlock) return 1;
  const std::int64_t major = card.compute_capability_major;
  const std::int64_t tile = major >= 9 ? 384 * 12 : major == 8 ? 384 * 10 : 256 * 11;  // tuning_radix_sort.cuh
  return kDigits * passes * 8 + div_up(count, tile) * kDigits * 4 + 2 * aligned(count * 8) + 256 + 255;
}

}  // namespace tidemark
