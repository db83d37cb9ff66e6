// Pictures: addresses from left to right, one line per step, letters are blocks, '.' is free, '|' ends a segment.
#include "memory/caching_allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "base/error.h"

#include "support/block_sizes.h"

namespace tidemark {
namespace {

using testing::ElementsAre;

CachingAllocatorConfig with(const char* settings, std::int64_t total_mib = 1024,
                            StreamWork work = StreamWork::finished) {
  CachingAllocatorConfig config;
  config.settings = parse_allocator_settings(settings);
  config.device.total_bytes = total_mib * kMib;
  config.stream_work = work;
  return config;
}

/// "alloc 6", "segment_alloc 20", … in MiB, rounded down.
struct Log : AllocatorObserver {
  void on_event(const AllocatorEvent& event) override {
    events.push_back(std::string(name_of(event.kind)) + " " + std::to_string(event.bytes / kMib));
  }
  std::vector<std::string> take() { return std::exchange(events, {}); }
  std::vector<std::string> events;
};

std::int64_t reserved_mib(const Allocator& allocator) { return allocator.totals().reserved_bytes / kMib; }

//   0     6     12    18 20
//   aaaaaabbbbbbcccccc..|
//   ......bbbbbbcccccc..|   -a
//   ............cccccc..|   -b   merges with what was a
//   dddddddddddccccccc..|   d of 11 fits there (1 MiB is left of it, not split off)
TEST(CachingAllocator, SplitsASegmentAndMergesNeighbours) {
  CachingAllocator allocator(with(""));
  const auto a = allocator.alloc(6 * kMib), b = allocator.alloc(6 * kMib), c = allocator.alloc(6 * kMib);
  EXPECT_EQ(reserved_mib(allocator), 20);
  EXPECT_EQ(allocator.address(b), 6 * kMib);
  EXPECT_EQ(allocator.address(c), 12 * kMib);
  allocator.free(a);
  allocator.free(b);
  const auto d = allocator.alloc(11 * kMib);
  EXPECT_EQ(allocator.address(d), 0);
  EXPECT_EQ(allocator.block_bytes(d), 12 * kMib);
  EXPECT_EQ(reserved_mib(allocator), 20);
}

//   the remainder is split off when it is more than 1 MiB (large pool) or at least 512 bytes (small pool)
TEST(CachingAllocator, KeepsARemainderOfOneMibInTheLargePool) {
  CachingAllocator allocator(with(""));
  allocator.free(allocator.alloc(20 * kMib));
  const auto whole = allocator.alloc(19 * kMib);
  EXPECT_EQ(allocator.block_bytes(whole), 20 * kMib);
  allocator.free(whole);
  EXPECT_EQ(allocator.block_bytes(allocator.alloc(19 * kMib - 512)), 19 * kMib - 512);
}

//   aaaa|bbbb|cccc|dddd|    four segments of 30 MiB
//   aaaa|....|cccc|....|    -b -d
//   aaaa|eeee|cccc|....|    the lower of two equal blocks
TEST(CachingAllocator, TakesTheLowestOfEqualBlocks) {
  for (const auto order : {AddressOrder::ascending, AddressOrder::descending}) {
    CachingAllocatorConfig config = with("");
    config.device.addresses = order;
    CachingAllocator allocator(config);
    std::vector<AllocationId> ids;
    for (int i = 0; i < 4; ++i) ids.push_back(allocator.alloc(30 * kMib));
    const std::int64_t lower = std::min(allocator.address(ids[1]), allocator.address(ids[3]));
    allocator.free(ids[3]);
    allocator.free(ids[1]);
    EXPECT_EQ(allocator.address(allocator.alloc(30 * kMib)), lower);
  }
}

//   aaaaaaaaaa|bbbbbb|cccccccc|  100, 40, 60 MiB, all freed: 35 takes b, 41 takes c
TEST(CachingAllocator, TakesTheSmallestBlockThatFits) {
  CachingAllocator allocator(with(""));
  const auto a = allocator.alloc(100 * kMib), b = allocator.alloc(40 * kMib), c = allocator.alloc(60 * kMib);
  for (const auto id : {a, b, c}) allocator.free(id);
  EXPECT_EQ(allocator.address(allocator.alloc(35 * kMib)), 100 * kMib);
  EXPECT_EQ(allocator.address(allocator.alloc(41 * kMib)), 140 * kMib);
  EXPECT_EQ(reserved_mib(allocator), 200);
}

TEST(CachingAllocator, StreamsDoNotShareBlocks) {
  CachingAllocator allocator(with(""));
  allocator.free(allocator.alloc(30 * kMib, 0));
  allocator.alloc(30 * kMib, 1);
  EXPECT_EQ(reserved_mib(allocator), 60);
}

//   stream 1 uses a; a is freed: the memory is active until the work on stream 1 is seen to have finished, at the next
//   allocation
TEST(CachingAllocator, WaitsForAnotherStream) {
  Log log;
  CachingAllocator allocator(with(""), &log);
  const auto a = allocator.alloc(30 * kMib);
  allocator.record_stream(a, 1);
  allocator.free(a);
  EXPECT_EQ(allocator.totals().allocated_bytes, 0);
  EXPECT_EQ(allocator.totals().active_bytes, 30 * kMib);
  allocator.alloc(30 * kMib);
  EXPECT_THAT(log.take(),
              ElementsAre("segment_alloc 30", "alloc 30", "free_requested 30", "free_completed 30", "alloc 30"));
  EXPECT_EQ(reserved_mib(allocator), 30);
}

TEST(CachingAllocator, UnfinishedWorkIsWaitedForWhenTheCacheIsEmptied) {
  CachingAllocator allocator(with("", 1024, StreamWork::unfinished));
  const auto a = allocator.alloc(30 * kMib);
  for (const StreamId stream : {1U, 2U, 2U, 0U}) allocator.record_stream(a, stream);
  allocator.free(a);
  allocator.free(allocator.alloc(30 * kMib));
  EXPECT_EQ(reserved_mib(allocator), 60);
  allocator.empty_cache();
  EXPECT_EQ(reserved_mib(allocator), 0);
  EXPECT_EQ(allocator.totals().active_bytes, 0);
}

TEST(CachingAllocator, OfAStreamsEventsOneIsNotAskedForWhileAnEarlierIsNotDone) {
  StreamOrder order;
  CachingAllocatorConfig config = with("", 1024, StreamWork::unfinished);
  config.stream_order = &order;
  CachingAllocator allocator(config);
  const auto a = allocator.alloc(30 * kMib), b = allocator.alloc(40 * kMib);
  order.add_work(1);
  allocator.record_stream(a, 1);
  allocator.free(a);
  order.add_work(2);
  allocator.record_stream(b, 2);
  allocator.free(b);
  order.host_waits(order.now(2));
  EXPECT_EQ(allocator.totals().active_bytes, 70 * kMib);
  allocator.free(allocator.alloc(1));  // asks
  EXPECT_EQ(allocator.totals().active_bytes, 30 * kMib);
  order.stream_waits(2, order.now(1));
  order.host_waits(order.now(2));
  allocator.free(allocator.alloc(1));
  EXPECT_EQ(allocator.totals().active_bytes, 0);
}

//   aa......|bbbbbbbb|  of 64 MiB: 40 cached in b; 30 does not fit beside it, so b goes back and the request is tried
//   again
TEST(CachingAllocator, GivesCachedSegmentsBackBeforeItFails) {
  Log log;
  CachingAllocator allocator(with("", 64), &log);
  allocator.alloc(2 * kMib);
  allocator.free(allocator.alloc(40 * kMib));
  log.take();
  const auto c = allocator.alloc(44 * kMib);
  ASSERT_NE(c, kOutOfMemory);
  EXPECT_THAT(log.take(), ElementsAre("segment_free 40", "segment_alloc 44", "alloc 44"));
  EXPECT_EQ(allocator.stats().num_alloc_retries, 1);
}

TEST(CachingAllocator, SaysWhatPyTorchSaysWhenItDoesNotFit) {
  CachingAllocatorConfig config = with("", 100);
  config.device.context_bytes = 10 * kMib;
  config.device.unavailable_bytes = 2 * kMib;
  CachingAllocator allocator(config);
  allocator.alloc(50 * kMib + 1);
  ASSERT_EQ(allocator.alloc(60 * kMib), kOutOfMemory);
  EXPECT_THAT(
      allocator.out_of_memory_message(),
      testing::StartsWith("CUDA out of memory. Tried to allocate 60.00 MiB. GPU 0 has a total capacity of 100.00 MiB "
                          "of which 36.00 MiB is free. "
                          "Including non-PyTorch memory, this process has 62.00 MiB memory in use. Of the allocated "
                          "memory 50.00 MiB is "
                          "allocated by PyTorch, and 2.00 MiB is reserved by PyTorch but unallocated. If reserved"));
  EXPECT_EQ(allocator.alloc(std::int64_t{1} << 60), kOutOfMemory);
  EXPECT_EQ(allocator.out_of_memory_message(), "CUDA out of memory. Tried to allocate more than 1EB memory.");
  EXPECT_NE(allocator.alloc(30 * kMib), kOutOfMemory);
}

TEST(CachingAllocator, StaysWithinTheMemoryFraction) {
  CachingAllocator allocator(with("", 100));
  allocator.set_memory_fraction(0.5);
  EXPECT_EQ(allocator.alloc(52 * kMib), kOutOfMemory);
  EXPECT_NE(allocator.alloc(50 * kMib), kOutOfMemory);
  EXPECT_THROW(allocator.set_memory_fraction(-0.1), Error);
}

//   oversize blocks (64 MiB and more) are not split, and serve requests up to 20 MiB smaller
TEST(CachingAllocator, DoesNotSplitOversizeBlocks) {
  CachingAllocator allocator(with("max_split_size_mb:64"));
  allocator.free(allocator.alloc(100 * kMib));
  allocator.alloc(10 * kMib);
  EXPECT_EQ(reserved_mib(allocator), 110);
  allocator.alloc(80 * kMib);
  EXPECT_EQ(reserved_mib(allocator), 190);
  EXPECT_EQ(allocator.block_bytes(allocator.alloc(80 * kMib + 512)), 100 * kMib);
}

//   of 100 MiB allowed, 60 before it collects: the oldest whole block goes first
TEST(CachingAllocator, CollectsTheOldestCachedSegments) {
  Log log;
  CachingAllocatorConfig config = with("garbage_collection_threshold:0.6,per_process_memory_fraction:0.5", 200);
  CachingAllocator allocator(config, &log);
  const auto old = allocator.alloc(30 * kMib), young = allocator.alloc(40 * kMib);
  allocator.free(old);
  for (int i = 0; i < 3; ++i) allocator.free(allocator.alloc(4 * kMib));
  allocator.free(young);
  log.take();
  allocator.alloc(41 * kMib);
  EXPECT_THAT(log.take(), testing::Contains("segment_free 30"));
  EXPECT_EQ(allocator.stats().num_alloc_retries, 0);
}

//   pieces of 20 MiB    0        20        40
//   a of 30             aaaaaaaaaaaaaaa....    mapped 40
//   b of 15             aaaaaaaaaaaaaaabbbbb|bb....   one piece more, not a new segment
//   -a, empty           ...............bbbbb|bb       the first piece goes back; 10 MiB before b stay
TEST(CachingAllocator, ExpandableSegmentsGrowAndShrinkByPieces) {
  Log log;
  CachingAllocator allocator(with("expandable_segments:True"), &log);
  const auto a = allocator.alloc(30 * kMib), b = allocator.alloc(15 * kMib);
  EXPECT_EQ(allocator.address(b), allocator.address(a) + 30 * kMib);
  EXPECT_THAT(log.take(), ElementsAre("segment_map 40", "alloc 30", "segment_map 20", "alloc 15"));
  allocator.free(a);
  allocator.empty_cache();
  EXPECT_THAT(log.take(), ElementsAre("free_requested 30", "free_completed 30", "segment_unmap 20"));
  EXPECT_EQ(reserved_mib(allocator), 40);
}

TEST(CachingAllocator, CountsWhatMemoryStatsCounts) {
  CachingAllocator allocator(with(""));
  const auto a = allocator.alloc(100);
  allocator.alloc(3 * kMib);
  allocator.free(a);
  const AllocatorStats& stats = allocator.stats();
  EXPECT_EQ(stats.allocated_bytes.peak, 512 + 3 * kMib);
  EXPECT_EQ(stats.active_bytes.current, 3 * kMib);
  EXPECT_EQ(stats.reserved_bytes.current, 22 * kMib);
  EXPECT_EQ(stats.num_device_alloc, 2);
}

TEST(CachingAllocator, NoBytesAreNoAllocation) {
  CachingAllocator allocator(with(""));
  const auto none = allocator.alloc(0);
  allocator.record_stream(none, 1);
  allocator.free(none);
  EXPECT_EQ(reserved_mib(allocator), 0);
}

TEST(CachingAllocator, RefusesWhatCannotBe) {
  CachingAllocator allocator(with(""));
  EXPECT_THROW(allocator.alloc(-1), Error);
  EXPECT_THROW(allocator.alloc(1, kMaxStreams), Error);
  const auto a = allocator.alloc(1);
  allocator.free(a);
  EXPECT_THROW(allocator.free(a), InternalError);
  EXPECT_THROW(allocator.free(12345), InternalError);
  EXPECT_THROW(CachingAllocator(with("", -1)), Error);
}

}  // namespace
}  // namespace tidemark
