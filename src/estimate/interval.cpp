#include "estimate/interval.h"

#include <algorithm>

namespace tidemark {
namespace {

struct Peaks {
  std::int64_t allocated_bytes = 0, reserved_bytes = 0;
  bool refused = false;
};

/// Up to the first request that does not fit, if there is one.
Peaks replay(const Run& run, CachingAllocator& allocator) {
  std::vector<AllocationId> ids(run.ledger().size());
  bool refused = false;
  for (const std::int32_t event : run.history()) {
    if (event == 0) {
      allocator.empty_cache();
      continue;
    }
    const auto entry = static_cast<std::size_t>(std::abs(event) - 1);
    if (event < 0) {
      allocator.free(ids[entry]);
      continue;
    }
    ids[entry] = allocator.alloc(run.ledger()[entry].requested_bytes, run.ledger()[entry].stream);
    refused = ids[entry] == kOutOfMemory;
    if (refused) break;
  }
  return {allocator.stats().all.allocated_bytes.peak, allocator.stats().all.reserved_bytes.peak, refused};
}

}  // namespace

std::optional<Interval> interval_of_addresses(const Run& run) {
  CachingAllocatorConfig config = run.config().allocator;
  const bool ascending = config.device.addresses == AddressOrder::ascending;
  config.device.addresses = ascending ? AddressOrder::descending : AddressOrder::ascending;
  CachingAllocator allocator(config);
  const Peaks other = replay(run, allocator);
  const std::int64_t allocated = run.timeline().allocated_peak().totals.allocated_bytes;
  const std::int64_t reserved = run.timeline().reserved_peak_bytes();
  if (!other.refused && other.allocated_bytes == allocated && other.reserved_bytes == reserved) return std::nullopt;
  Interval interval{std::min(allocated, other.allocated_bytes), std::max(allocated, other.allocated_bytes),
                    std::min(reserved, other.reserved_bytes), std::max(reserved, other.reserved_bytes),
                    "equal free blocks are taken by address; the two ends are segments placed upwards and downwards"};
  if (other.refused) interval.why += "; downwards: out of memory";
  return interval;
}

}  // namespace tidemark
