// Every recording of PyTorch's own allocator, replayed: the same events at the same addresses with the same totals, one
// by one. tools/trace/record_allocator.py makes the recordings.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "../recordings.h"
#include "memory/lower_bound.h"
#include "memory/trace.h"

namespace tidemark {
namespace {

std::vector<std::string> recordings() { return recordings_in(recordings_folder()); }

struct Collector : AllocatorObserver {
  void on_event(const AllocatorEvent& event) override {
    if (events.empty() && event.kind != EventKind::out_of_memory) base = event.address;
    events.push_back(event);
    if (event.kind != EventKind::out_of_memory) events.back().address -= base;
  }
  std::int64_t base = 0;
  std::vector<AllocatorEvent> events;
};

std::string to_text(const AllocatorEvent& event) {
  return fmt::format("{} at {} of {} bytes on stream {}; allocated {}, reserved {}, active {}", name_of(event.kind),
                     event.address, event.bytes, event.stream, event.totals.allocated_bytes,
                     event.totals.reserved_bytes, event.totals.active_bytes);
}

/// In which order the streams of one request's finished work are looked at is up to a hash table in PyTorch, and
/// decides nothing: such frees are compared by address, and their totals with those of the run's sorted frees.
void sort_completions(std::vector<AllocatorEvent>& events) {
  const auto completed = [](const AllocatorEvent& event) { return event.kind == EventKind::free_completed; };
  for (auto first = events.begin(); first != events.end();) {
    const auto last = std::find_if_not(first, events.end(), completed);
    if (last - first > 1) {
      for (auto event = first + 1; event != last; ++event) event->totals = first->totals;
      std::sort(first, last, [](const AllocatorEvent& a, const AllocatorEvent& b) { return a.address < b.address; });
    }
    first = last == events.end() ? last : last + 1;
  }
}

class Recorded : public testing::TestWithParam<std::string> {
 protected:
  Recording recording = read_recording(unpack(recordings_folder() / (GetParam() + ".txt.gz")));
};

/// Runs the requests; `done` sees each after it has been answered: the request, and its allocation's id (kOutOfMemory
/// if refused).
template <class Done>
void run(const Recording& recording, CachingAllocator& allocator, Done&& done) {
  std::vector<AllocationId> ids;
  for (const Request& request : recording.requests) {
    AllocationId id = kNoBytes;
    if (request.kind == Request::Kind::alloc) {
      id = allocator.alloc(request.bytes, request.stream);
      ids.push_back(id);
    } else if (request.kind == Request::Kind::empty_cache) {
      allocator.empty_cache();
    } else {
      id = ids[request.number];
      ASSERT_NE(id, kOutOfMemory) << "ours ran out of memory where PyTorch's did not";
      request.kind == Request::Kind::free ? allocator.free(id) : allocator.record_stream(id, request.stream);
    }
    done(request, id);
  }
}

TEST_P(Recorded, IsRepeatedToTheByteAfterEveryEvent) {
  ASSERT_FALSE(recording.events.empty());
  Collector ours;
  CachingAllocator allocator(recording.config, &ours);
  std::vector<std::string> messages;
  run(recording, allocator, [&](const Request&, AllocationId id) {
    if (id == kOutOfMemory) messages.push_back(allocator.out_of_memory_message());
  });
  sort_completions(ours.events);
  sort_completions(recording.events);
  const std::size_t both = std::min(ours.events.size(), recording.events.size());
  for (std::size_t i = 0; i < both; ++i)
    ASSERT_EQ(ours.events[i], recording.events[i]) << "event " << i << "\n  ours:    " << to_text(ours.events[i])
                                                   << "\n  PyTorch: " << to_text(recording.events[i]);
  EXPECT_EQ(ours.events.size(), recording.events.size());
  EXPECT_EQ(allocator.totals(), recording.end);
  EXPECT_EQ(messages, recording.messages);
}

TEST_P(Recorded, NeedsAtLeastTheLowerBound) {
  CachingAllocator allocator(recording.config);
  LowerBound bound;
  std::vector<AllocationId> bounds;
  run(recording, allocator, [&](const Request& request, AllocationId id) {
    if (request.kind == Request::Kind::alloc)
      bounds.push_back(id == kOutOfMemory ? kNoBytes : bound.alloc(request.bytes, 0));
    if (request.kind == Request::Kind::free) bound.free(bounds[request.number]);
  });
  const AllocatorStats& stats = allocator.stats();
  EXPECT_LE(bound.peak_bytes(), stats.allocated_bytes.peak);
  EXPECT_LE(stats.allocated_bytes.peak, stats.active_bytes.peak);
  EXPECT_LE(stats.active_bytes.peak, stats.reserved_bytes.peak);
}

INSTANTIATE_TEST_SUITE_P(Allocator, Recorded, testing::ValuesIn(recordings()),
                         [](const auto& recording) { return recording.param; });

}  // namespace
}  // namespace tidemark
