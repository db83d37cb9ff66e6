// What holds for any sequence of requests under any settings.
#include <gtest/gtest.h>
// gtest first: rapidcheck's header needs it.
#include <rapidcheck/gtest.h>

#include <vector>

#include "memory/allocator_rules.h"
#include "memory/caching_allocator.h"
#include "memory/lower_bound.h"
#include "naive_allocator.h"

namespace tidemark {
namespace {

constexpr std::int64_t kMib = 1 << 20;

std::int64_t some_bytes() {
  const auto mib = [](std::int64_t from, std::int64_t to) {
    return rc::gen::inRange<std::int64_t>(from * kMib + 1, to * kMib);
  };
  return *rc::gen::oneOf(
      rc::gen::inRange<std::int64_t>(1, 5000), mib(0, 1), mib(1, 10), mib(10, 200),
      rc::gen::element<std::int64_t>(512, kMib, kMib + 1, 2 * kMib, 10 * kMib, 20 * kMib, 64 * kMib));
}

CachingAllocatorConfig some_config(std::vector<const char*> settings) {
  CachingAllocatorConfig config;
  config.settings = parse_allocator_settings(*rc::gen::elementOf(settings));
  config.device.total_bytes = *rc::gen::element<std::int64_t>(300 * kMib, 1024 * kMib, 80'000 * kMib);
  config.device.addresses = *rc::gen::element(AddressOrder::ascending, AddressOrder::descending);
  config.stream_work = *rc::gen::element(StreamWork::finished, StreamWork::unfinished);
  return config;
}

/// Pieces of memory that are mapped do not overlap, free neighbours are merged, and the sums are those of the
/// statistics.
void check_snapshot(const CachingAllocator& allocator) {
  Totals sums;
  std::int64_t end = INT64_MIN;
  bool free_before = false;
  for (const auto& block : allocator.snapshot()) {
    RC_ASSERT(block.address >= end);
    RC_ASSERT(block.bytes > 0 && block.bytes % kMinBlockBytes == 0);
    if (block.allocated) RC_ASSERT(block.requested_bytes <= block.bytes);
    if (!block.starts_segment) RC_ASSERT(block.address == end && !(free_before && !block.active));
    free_before = !block.active;
    end = block.address + block.bytes;
    sums.reserved_bytes += block.bytes;
    sums.active_bytes += block.active ? block.bytes : 0;
    sums.allocated_bytes += block.allocated ? block.bytes : 0;
  }
  RC_ASSERT(sums == allocator.totals());
}

RC_GTEST_PROP(CachingAllocatorProperty, KeepsItsInvariants, ()) {
  CachingAllocator allocator(
      some_config({"", "max_split_size_mb:40", "roundup_power2_divisions:4", "expandable_segments:True",
                   "garbage_collection_threshold:0.5,per_process_memory_fraction:0.7", "large_segment_size_mb:33",
                   "expandable_segments:True,per_process_memory_fraction:0.8,garbage_collection_threshold:0.4"}));
  LowerBound bound;
  std::vector<std::pair<AllocationId, AllocationId>> live;
  const int steps = *rc::gen::inRange(1, 120);
  for (int step = 0; step < steps; ++step) {
    const int what = *rc::gen::inRange(0, 100);
    if (what < 55 || live.empty()) {
      const std::int64_t bytes = some_bytes();
      const auto id = allocator.alloc(bytes, *rc::gen::inRange<StreamId>(0, 3));
      if (id != kOutOfMemory) live.emplace_back(id, bound.alloc(bytes, 0));
    } else if (what < 60) {
      allocator.empty_cache();
    } else {
      const auto chosen = *rc::gen::inRange<std::size_t>(0, live.size());
      if (what < 70) {
        allocator.record_stream(live[chosen].first, *rc::gen::inRange<StreamId>(0, 3));
      } else {
        allocator.free(live[chosen].first);
        bound.free(live[chosen].second);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(chosen));
      }
    }
    RC_ASSERT(bound.totals().allocated_bytes <= allocator.totals().allocated_bytes);
  }
  check_snapshot(allocator);
  RC_ASSERT(bound.peak_bytes() <= allocator.stats().allocated_bytes.peak);
  RC_ASSERT(allocator.stats().active_bytes.peak <= allocator.stats().reserved_bytes.peak);
  for (const auto& [id, _] : live) allocator.free(id);
  allocator.empty_cache();
  RC_ASSERT(allocator.totals() == Totals{});
  RC_ASSERT(allocator.snapshot().empty());
}

RC_GTEST_PROP(CachingAllocatorProperty, DoesWhatTheNaiveOneDoes, ()) {
  CachingAllocatorConfig config =
      some_config({"", "", "max_split_size_mb:40", "max_split_size_mb:64,max_non_split_rounding_mb:32",
                   "roundup_power2_divisions:[1:8,16:4,>:2]"});
  CachingAllocator allocator(config);
  NaiveAllocator naive(config.settings, config.device);
  std::vector<AllocationId> live;
  const int steps = *rc::gen::inRange(1, 150);
  for (int step = 0; step < steps; ++step) {
    const int what = *rc::gen::inRange(0, 100);
    if (what < 55 || live.empty()) {
      const std::int64_t bytes = some_bytes();
      const StreamId stream = *rc::gen::inRange<StreamId>(0, 2);
      const auto id = allocator.alloc(bytes, stream);
      const auto address = naive.alloc(bytes, stream);
      RC_ASSERT((id != kOutOfMemory) == address.has_value());
      if (!address) continue;
      RC_ASSERT(allocator.address(id) == *address);
      live.push_back(id);
    } else if (what < 58) {
      allocator.empty_cache();
      naive.empty_cache();
    } else {
      const auto chosen = *rc::gen::inRange<std::size_t>(0, live.size());
      naive.free(allocator.address(live[chosen]));
      allocator.free(live[chosen]);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
    RC_ASSERT(allocator.totals().reserved_bytes == naive.reserved_bytes());
  }
}

// Why the interval looks at one order of addresses alone with these rules (estimate/interval.cpp).
RC_GTEST_PROP(CachingAllocatorProperty, WhereSegmentsLieDecidesNothingSince212, ()) {
  CachingAllocatorConfig config =
      some_config({"", "max_split_size_mb:40", "roundup_power2_divisions:4", "large_segment_size_mb:33",
                   "garbage_collection_threshold:0.5,per_process_memory_fraction:0.7"});
  config.rules = allocator_rules(*rc::gen::element("2.12.1", "2.13.0", "2.15.0"));
  config.device.addresses = AddressOrder::ascending;
  CachingAllocator upwards(config);
  config.device.addresses = AddressOrder::descending;
  CachingAllocator downwards(config);
  std::vector<std::pair<AllocationId, AllocationId>> live;
  const int steps = *rc::gen::inRange(1, 200);
  const std::vector<std::int64_t> sizes{some_bytes(), some_bytes(), some_bytes(), 512, 3 * kMib};
  for (int step = 0; step < steps; ++step) {
    const int what = *rc::gen::inRange(0, 100);
    if (what < 55 || live.empty()) {
      const std::int64_t bytes = *rc::gen::elementOf(sizes);
      const StreamId stream = *rc::gen::inRange<StreamId>(0, 2);
      const std::pair ids{upwards.alloc(bytes, stream), downwards.alloc(bytes, stream)};
      RC_ASSERT((ids.first == kOutOfMemory) == (ids.second == kOutOfMemory));
      if (ids.first != kOutOfMemory) live.push_back(ids);
    } else if (what < 58) {
      upwards.empty_cache();
      downwards.empty_cache();
    } else {
      const auto chosen = *rc::gen::inRange<std::size_t>(0, live.size());
      upwards.free(live[chosen].first);
      downwards.free(live[chosen].second);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
    RC_ASSERT(upwards.totals() == downwards.totals());
  }
}

RC_GTEST_PROP(CachingAllocatorProperty, FreeingEverythingLeavesWholeSegments, ()) {
  CachingAllocatorConfig config = some_config({"", "max_split_size_mb:40", "roundup_power2_divisions:4"});
  config.stream_work = StreamWork::finished;
  CachingAllocator allocator(config);
  std::vector<AllocationId> live;
  for (int left = *rc::gen::inRange(1, 60); left > 0; --left)
    if (const auto id = allocator.alloc(some_bytes()); id != kOutOfMemory) live.push_back(id);
  for (const auto id : live) allocator.free(id);
  for (const auto& block : allocator.snapshot()) RC_ASSERT(block.starts_segment);
  const AllocatorStats& stats = allocator.stats();
  RC_ASSERT(static_cast<std::int64_t>(allocator.snapshot().size()) == stats.num_device_alloc - stats.num_device_free);
}

}  // namespace
}  // namespace tidemark
