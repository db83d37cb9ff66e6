// Work on other streams that a freed block waits for.
// torch 2.11.0: c10/cuda/CUDACachingAllocator.cpp, DeviceCachingAllocator::{cuda_events, insert_events,
// process_events}.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "memory/block.h"
#include "memory/stream_order.h"

namespace tidemark {

/// Whether a stream's work has ended when the allocator looks, which it does at every allocation.
enum class StreamWork : std::uint8_t {
  finished,    // always: nothing waits longer than until the next allocation
  unfinished,  // never by itself: a block waits until the host has (CachingAllocatorConfig::stream_order), or the
               // allocator waits for all streams (empty_cache, or memory is short)
};

class StreamUses {
 public:
  /// False if it was noted before.
  bool note(BlockId block, StreamId stream) {
    const std::pair use{block, stream};
    if (std::find(noted_.begin(), noted_.end(), use) != noted_.end()) return false;
    noted_.push_back(use);
    return true;
  }

  /// The block was freed: its uses become events, to be waited for.  Returns how many.  `order` may be null.
  std::int32_t start_waiting(BlockId block, StreamOrder* order) {
    std::int32_t events = 0;
    for (std::size_t i = 0; i < noted_.size();) {
      if (noted_[i].first != block) {
        ++i;
        continue;
      }
      const StreamId stream = noted_[i].second;
      waiting_.push_back({block, stream, order ? order->now(stream) : Moment()});
      noted_[i] = noted_.back();
      noted_.pop_back();
      ++events;
    }
    return events;
  }

  bool nobody_waits() const { return waiting_.empty(); }

  /// The host waits for everything: calls done(block) once per event, stream by stream, oldest first.
  template <class Done>
  void finish_all(StreamOrder* order, Done&& done) {
    const auto of_earlier_stream = [](const Event& a, const Event& b) { return a.stream < b.stream; };
    std::stable_sort(waiting_.begin(), waiting_.end(), of_earlier_stream);
    for (const Event& event : waiting_) {
      if (order) order->host_waits(event.recorded);
      done(event.block);
    }
    waiting_.clear();
  }

  /// The same of what the host has seen the end of: of each stream those in front of the first that it has not.
  template <class Done>
  void finish_done(const StreamOrder& order, Done&& done) {
    std::vector<StreamId> unfinished;
    std::vector<Event> waiting = std::exchange(waiting_, {});
    for (Event& event : waiting) {
      const bool behind = std::find(unfinished.begin(), unfinished.end(), event.stream) != unfinished.end();
      if (!behind && order.is_done(event.recorded)) {
        done(event.block);
        continue;
      }
      if (!behind) unfinished.push_back(event.stream);
      waiting_.push_back(std::move(event));
    }
  }

 private:
  struct Event {
    BlockId block;
    StreamId stream;
    Moment recorded;
  };
  std::vector<std::pair<BlockId, StreamId>> noted_;
  std::vector<Event> waiting_;
};

}  // namespace tidemark
