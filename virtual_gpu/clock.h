// When work that was queued on the card would be done: a time for the host and one per stream, moved on by what is
// queued and waited for and never by a real clock, so that two runs give the same answers.  Design:
// docs/design/clock.md.
#pragma once
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace tidemark {

using Nanoseconds = std::int64_t;

/// What decides whether an event has completed: `instant`, it always has; `clock`, the time has come; `late`, the host
/// has waited for it, or for something that comes after it.
enum class EventOrder { instant, clock, late };

/// The host and the streams of one card.  Handles are the caller's; 0, 1 and 2 are CUDA's default streams
/// (driver_types.h: cudaStreamLegacy, cudaStreamPerThread).  Thread-safe.
class Clock {
 public:
  struct Answers {
    std::int64_t asked, not_ready;
  };

  explicit Clock(EventOrder order);
  EventOrder order() const { return order_; }

  /// The host does something that takes a while.
  void host_works(Nanoseconds cost);
  Nanoseconds host_time();

  /// A stream that waits for the legacy default stream, and the other way round (cudaStreamNonBlocking was not given).
  void add_blocking_stream(const void* stream);
  void forget_stream(const void* stream);
  void forget_event(const void* event);

  /// Work begins when the stream's earlier work is done, and not before now.
  void queue(const void* stream, Nanoseconds duration);
  /// What was queued last on the stream takes that much longer.
  void prolong(const void* stream, Nanoseconds more);
  /// cudaEventRecord, cudaStreamWaitEvent.
  void record(const void* event, const void* stream);
  void wait(const void* stream, const void* event);

  /// cudaEventQuery, cudaStreamQuery: true if done.  An event that was never recorded is.  Asking takes the asking
  /// thread time of its own, and more when it asks over and over with nothing else to do, so that a loop that polls
  /// ends; under `late` such a loop is a wait.
  bool ask_event(const void* event);
  bool ask_stream(const void* stream);
  /// The same for an onlooker: neither counted nor a cause of anything.
  bool event_is_done(const void* event);

  void synchronize_event(const void* event);
  void synchronize_stream(const void* stream);
  void synchronize_device();

  Answers answers();
  /// Those that anything was asked of.
  std::vector<const void*> streams();
  /// How many pieces of work the stream was given.
  std::uint64_t work_queued(const void* stream);

 private:
  /// A point in the card's course: its time, and of every stream (by number) how much of its work comes before it.
  struct Moment {
    Nanoseconds time = 0;
    std::vector<std::uint64_t> work;
    void join(const Moment& other);
    bool within(const Moment& other) const;
  };
  struct Stream {
    Moment end;
    std::size_t number;
  };

  Stream& at(const void* stream);
  void join_default_stream(const void* which, Stream& stream);
  Nanoseconds now();
  void wait_for(const Moment& moment);
  bool done(const Moment& moment);
  bool answer(const Moment& moment);

  const EventOrder order_;
  const std::uint64_t number_;  // among all clocks: a later one may stand at the same address
  std::mutex mutex_;
  Nanoseconds host_ = 0;
  Moment waited_;  // what the host has seen the end of
  std::unordered_map<const void*, Stream> streams_;
  std::unordered_map<const void*, Moment> events_;
  std::vector<const void*> blocking_;
  Answers answers_{0, 0};
};

}  // namespace tidemark
