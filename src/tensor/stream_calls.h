// What a program asks of streams and events, in step with its requests: by it they can be put to the allocator once
// more as on a card that lags behind the host.  docs/design/clock.md
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "memory/allocator.h"

namespace tidemark {

class Run;

/// Of the events that a run has recorded, from 0.
using EventNumber = std::uint32_t;

/// One call.  Of the event that is waited for it tells how many were recorded after it: so a step's calls can be
/// repeated.
struct StreamCall {
  enum class Kind : std::uint8_t {
    work,                // something is queued on the stream
    record,              // torch.cuda.Event.record
    stream_waits,        // Stream.wait_event, of the event `count` behind the last
    host_waits,          // Stream.synchronize
    host_waits_for_all,  // torch.cuda.synchronize
    queue_event,         // records an event, which a queue of the program's then ends with
    drop_done,           // while queue and queue[0].query(): queue.popleft()
    wait_for_oldest,     // if len(queue) >= count: queue.popleft().synchronize()
  };
  static constexpr std::size_t kQueues = 2;  // of events, that a program may keep

  std::size_t position = 0;  // how many events of the run's history came before
  Kind kind = Kind::record;
  std::uint8_t queue = 0;
  StreamId stream = 0;  // that records, or waits, or is waited for
  std::uint32_t count = 0;
};

/// Whether an operation of that name has work for the card, and does not only allocate.
inline bool has_work(std::string_view op) {
  return !op.starts_with("aten::empty") && !op.starts_with("aten::new_empty");
}

class StreamCalls {
 public:
  explicit StreamCalls(Run& run) : run_(run) {}

  const std::vector<StreamCall>& all() const { return calls_; }

  /// Something is queued that allocates nothing; what allocates has work by its name (has_work).
  void work(StreamId stream);
  EventNumber record(StreamId stream);
  void stream_waits(StreamId stream, EventNumber until);
  /// Stream.wait_stream
  void wait_stream(StreamId stream, StreamId other) { stream_waits(stream, record(other)); }
  /// Stream.synchronize
  void host_waits(StreamId stream);
  /// Of the current stream, as where a program reads what the card has, or copies to it from pageable memory.
  void host_waits();
  void host_waits_for_all();
  /// A collective, on the stream `on` that ProcessGroupNCCL keeps for those that are waited for later, behind what is
  /// on `behind`.  The event that Work.wait waits for.
  EventNumber start_collective(StreamId on, StreamId behind);

  void queue_event(std::uint8_t queue, StreamId stream);
  void drop_done(std::uint8_t queue);
  void wait_for_oldest(std::uint8_t queue, std::uint32_t count);

  /// The number of the first call at `position` or later.
  std::size_t first_at(std::size_t position) const;
  /// That call once more, now.
  void repeat(std::size_t call);

 private:
  void add(StreamCall call);

  Run& run_;
  std::vector<StreamCall> calls_;  // in order
  EventNumber recorded_ = 0;
};

}  // namespace tidemark
