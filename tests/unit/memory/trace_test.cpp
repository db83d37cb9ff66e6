#include "memory/trace.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "memory/lower_bound.h"

namespace tidemark {
namespace {

const std::string kHeader = "tidemark_allocations 1\ntorch 2.11.0\nsettings -\ntotal_bytes 1073741824\nevents\n";

TEST(Trace, ReadsRequestsAndEvents) {
  const Recording recording = read_recording(kHeader +
                                             "+ 0 2097152 0 0 2097152\n"
                                             "a 0 100 0\n"
                                             "r 0 0 1 512 0 512\n"
                                             "f 0 100 0 -512\n"
                                             "c 0 100 0\n"
                                             "e 0 0 0 0 0 -512\n"
                                             ". 0 0 0\n");
  ASSERT_EQ(recording.requests.size(), 4U);
  EXPECT_EQ(recording.requests[1].kind, Request::Kind::record_stream);
  ASSERT_EQ(recording.events.size(), 4U);
  EXPECT_EQ(recording.events[1], (AllocatorEvent{EventKind::alloc, 0, 100, 0, {0, 2097152, 0}}));
  EXPECT_EQ(recording.end, (Totals{0, 2097152, 0}));
}

TEST(Trace, RefusesWithTheLine) {
  for (const char* bad : {"x 0 0 0\n", "a 0 -1 0\n", "a 0 1\n", "a 0 1 1 1 1 1 1\n", "f 7 1 0\n", "a 0 1 99999\n",
                          "a 0 1 0 -5\n", "a 0 1x 0\n", ""}) {
    try {
      read_recording(kHeader + bad);
      FAIL() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::bad_file) << bad;
    }
  }
}

TEST(Trace, ReplaysThroughAnyAllocator) {
  const std::vector<Request> requests{{Request::Kind::alloc, 0, 1000, 0},
                                      {Request::Kind::alloc, 1, 3 << 20, 0},
                                      {Request::Kind::free, 0, 0, 0},
                                      {Request::Kind::empty_cache, 0, 0, 0}};
  CachingAllocator caching;
  LowerBound bound;
  EXPECT_EQ(replay(requests, caching).end, (Totals{3 << 20, 20 << 20, 3 << 20}));
  const ReplayResult least = replay(requests, bound);
  EXPECT_EQ(least.timeline.allocated_peak().totals.allocated_bytes, 1024 + (3 << 20));
  EXPECT_EQ(least.timeline.allocated_peak().event, 1);
}

TEST(Timeline, PeaksBeginAnewAtWhatIsThere) {
  Timeline timeline;
  for (const std::int64_t bytes : {3, 7, 2}) timeline.add({bytes, 10 * bytes, bytes});
  EXPECT_EQ(timeline.take_peaks().reserved_bytes, 70);
  EXPECT_EQ(timeline.take_peaks().allocated_bytes, 2);
  timeline.add({5, 50, 5});
  EXPECT_EQ(timeline.take_peaks().allocated_bytes, 5);
}

TEST(Timeline, StagesHaveTheirOwnPeaks) {
  Timeline timeline;
  const auto add = [&](std::int64_t bytes) { timeline.add({bytes, 10 * bytes, bytes}); };
  add(9);
  add(3);
  timeline.begin_stage("outer");
  add(5);
  timeline.begin_stage("inner");
  add(7);
  add(6);
  timeline.end_stage();
  add(4);
  timeline.end_stage();
  timeline.begin_stage("inner");
  add(2);
  timeline.end_stage();
  ASSERT_EQ(timeline.stages().size(), 2U);
  const Timeline::Stage &outer = timeline.stages()[0], &inner = timeline.stages()[1];
  EXPECT_EQ(outer.name, "outer");
  EXPECT_EQ(outer.peak_allocated_bytes, 7);
  EXPECT_EQ(outer.kept_bytes, 1);
  EXPECT_EQ(inner.peak_allocated_bytes, 7);
  EXPECT_EQ(inner.kept_bytes, 1);
  EXPECT_EQ(timeline.take_peaks().allocated_bytes, 9);
}

TEST(Timeline, KeepsEveryPeakInFewPoints) {
  Timeline timeline(10);
  for (int i = 0; i < 1000; ++i) timeline.add({i == 617 ? 5000 : i, 10000, i});
  EXPECT_LE(timeline.points().size(), 10U);
  EXPECT_EQ(timeline.allocated_peak().event, 617);
  bool kept = false;
  for (const auto& point : timeline.points()) kept |= point.event == 617;
  EXPECT_TRUE(kept);
  EXPECT_EQ(timeline.events(), 1000);
}

TEST(Timeline, KeepsTheReservedPeakBesideTheAllocatedOne) {
  for (const int reserved_peak : {3, 615, 619, 998}) {  // before and after event 617, in its stretch and in others
    Timeline timeline(10);
    for (int i = 0; i < 1000; ++i) timeline.add({i == 617 ? 5000 : i, i == reserved_peak ? 20000 : 10000, i});
    std::vector<std::int64_t> events;
    bool has_allocated = false, has_reserved = false;
    for (const auto& [event, totals] : timeline.points()) {
      events.push_back(event);
      has_allocated |= event == 617 && totals.allocated_bytes == 5000;
      has_reserved |= event == reserved_peak && totals.reserved_bytes == 20000;
    }
    EXPECT_TRUE(has_allocated && has_reserved) << reserved_peak;
    EXPECT_TRUE(std::is_sorted(events.begin(), events.end())) << reserved_peak;
    EXPECT_LE(events.size(), 11U);
  }
}

}  // namespace
}  // namespace tidemark
