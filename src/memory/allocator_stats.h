// The numbers of torch.cuda.memory_stats().  torch 2.11.0: c10/core/CachingDeviceAllocator.h, DeviceStats.
#pragma once
#include <algorithm>
#include <cstdint>

namespace tidemark {

struct Stat {
  std::int64_t current = 0, peak = 0;
  std::int64_t total = 0;  // ever added ("allocated" in PyTorch); "freed" is total - current

  void add(std::int64_t amount) {
    current += amount;
    total += amount;
    peak = std::max(peak, current);
  }
  void remove(std::int64_t amount) { current -= amount; }
};

struct PoolStats {
  Stat allocation, segment, active, inactive_split;  // counts
  Stat allocated_bytes, reserved_bytes, active_bytes, inactive_split_bytes, requested_bytes;
};

struct AllocatorStats {
  PoolStats all, small_pool, large_pool;
  Stat oversize_allocations, oversize_segments;  // of max_split_size_mb and more
  std::int64_t num_alloc_retries = 0, num_ooms = 0, num_sync_all_streams = 0, num_device_alloc = 0, num_device_free = 0;
};

}  // namespace tidemark
