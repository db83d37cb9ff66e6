// What the host has seen the end of, on a card that is infinitely slow: work that it waited for, and what comes before.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory/block.h"

namespace tidemark {

/// A point in a card's course: of every stream, how much of its work comes before.  Work has no length.
class Moment {
 public:
  void add_work(StreamId stream) { ++at(stream); }
  void join(const Moment& other) {
    for (std::size_t i = 0; i < other.work_.size(); ++i)
      at(static_cast<StreamId>(i)) = std::max(at(static_cast<StreamId>(i)), other.work_[i]);
  }
  bool within(const Moment& other) const {
    for (std::size_t i = 0; i < work_.size(); ++i)
      if (work_[i] > (i < other.work_.size() ? other.work_[i] : 0)) return false;
    return true;
  }

 private:
  std::uint32_t& at(StreamId stream) {
    if (stream >= work_.size()) work_.resize(stream + 1);
    return work_[stream];
  }
  std::vector<std::uint32_t> work_;  // by stream
};

/// The order of work on streams, as docs/design/clock.md has it under `late`.
class StreamOrder {
 public:
  /// Something is queued on the stream.
  void add_work(StreamId stream) { end_of(stream).add_work(stream); }
  /// What an event recorded now would wait for.
  const Moment& now(StreamId stream) { return end_of(stream); }
  void stream_waits(StreamId stream, const Moment& until) { end_of(stream).join(until); }
  void host_waits(const Moment& until) { waited_.join(until); }
  void host_waits_for_all() {
    for (const Moment& end : ends_) waited_.join(end);
  }
  bool is_done(const Moment& moment) const { return moment.within(waited_); }

 private:
  Moment& end_of(StreamId stream) {
    if (stream >= ends_.size()) ends_.resize(stream + 1);
    return ends_[stream];
  }
  std::vector<Moment> ends_;  // by stream
  Moment waited_;
};

}  // namespace tidemark
