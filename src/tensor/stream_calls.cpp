#include "tensor/stream_calls.h"

#include <algorithm>

#include "tensor/run.h"

namespace tidemark {

void StreamCalls::add(StreamCall call) {
  ++run_.side_effects;
  call.position = run_.history().size();
  calls_.push_back(call);
}

void StreamCalls::work(StreamId stream) { add({.kind = StreamCall::Kind::work, .stream = stream}); }

EventNumber StreamCalls::record(StreamId stream) {
  add({.kind = StreamCall::Kind::record, .stream = stream});
  return recorded_++;
}

void StreamCalls::stream_waits(StreamId stream, EventNumber until) {
  TM_CHECK(until < recorded_, "an event is waited for before it is recorded");
  add({.kind = StreamCall::Kind::stream_waits, .stream = stream, .count = recorded_ - 1 - until});
}

void StreamCalls::host_waits(StreamId stream) { add({.kind = StreamCall::Kind::host_waits, .stream = stream}); }

void StreamCalls::host_waits() { host_waits(run_.stream); }

void StreamCalls::host_waits_for_all() { add({.kind = StreamCall::Kind::host_waits_for_all}); }

EventNumber StreamCalls::start_collective(StreamId on, StreamId behind) {
  wait_stream(on, behind);
  work(on);
  return record(on);
}

void StreamCalls::queue_event(std::uint8_t queue, StreamId stream) {
  add({.kind = StreamCall::Kind::queue_event, .queue = queue, .stream = stream});
}

void StreamCalls::drop_done(std::uint8_t queue) { add({.kind = StreamCall::Kind::drop_done, .queue = queue}); }

void StreamCalls::wait_for_oldest(std::uint8_t queue, std::uint32_t count) {
  add({.kind = StreamCall::Kind::wait_for_oldest, .queue = queue, .count = count});
}

std::size_t StreamCalls::first_at(std::size_t position) const {
  const auto is_before = [](const StreamCall& call, std::size_t at) { return call.position < at; };
  return static_cast<std::size_t>(std::lower_bound(calls_.begin(), calls_.end(), position, is_before) - calls_.begin());
}

void StreamCalls::repeat(std::size_t call) {
  const StreamCall again = calls_[call];
  if (again.kind == StreamCall::Kind::record) ++recorded_;
  add(again);
}

}  // namespace tidemark
