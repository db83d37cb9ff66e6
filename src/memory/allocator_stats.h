// What an allocator counts: those of the numbers of torch.cuda.memory_stats() that somebody here reads.
// torch 2.11.0: c10/core/CachingDeviceAllocator.h, DeviceStats.
#pragma once
#include <algorithm>
#include <cstdint>

namespace tidemark {

struct Stat {
  std::int64_t current = 0, peak = 0;

  void add(std::int64_t amount) {
    current += amount;
    peak = std::max(peak, current);
  }
  void remove(std::int64_t amount) { current -= amount; }
};

struct AllocatorStats {
  Stat allocated_bytes, reserved_bytes, active_bytes;
  std::int64_t num_alloc_retries = 0, num_ooms = 0, num_sync_all_streams = 0, num_device_alloc = 0, num_device_free = 0;
};

}  // namespace tidemark
