// Work on other streams that a freed block waits for.
// torch 2.11.0: c10/cuda/CUDACachingAllocator.cpp, DeviceCachingAllocator::{cuda_events, insert_events,
// process_events}.
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "memory/block.h"

namespace tidemark {

/// Whether a stream's work has ended when the allocator looks, which it does at every allocation.
enum class StreamWork : std::uint8_t {
  finished,    // always: nothing waits longer than until the next allocation
  unfinished,  // never by itself: a block waits until the allocator waits for all streams (empty_cache, or memory is
               // short)
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

  /// The block was freed: its uses become events, to be waited for.  Returns how many.
  std::int32_t start_waiting(BlockId block) {
    std::int32_t events = 0;
    for (std::size_t i = 0; i < noted_.size();) {
      if (noted_[i].first != block) {
        ++i;
        continue;
      }
      waiting_.push_back(noted_[i]);
      noted_[i] = noted_.back();
      noted_.pop_back();
      ++events;
    }
    return events;
  }

  bool nobody_waits() const { return waiting_.empty(); }

  /// Everything ends: calls done(block) once per event, stream by stream, oldest first.
  template <class Done>
  void finish_all(Done&& done) {
    std::stable_sort(waiting_.begin(), waiting_.end(),
                     [](const auto& a, const auto& b) { return a.second < b.second; });
    for (const auto& [block, stream] : waiting_) done(block);
    waiting_.clear();
  }

 private:
  std::vector<std::pair<BlockId, StreamId>> noted_, waiting_;
};

}  // namespace tidemark
