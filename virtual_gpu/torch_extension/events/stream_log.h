// What the program asked of streams and events, in step with the allocator's events: with it a run can be replayed as
// if the card had been quicker or slower (virtual_gpu/replay).
#pragma once
#include <cstddef>
#include <cstdint>

#include "event_log.h"

namespace tidemark {

/// 1 to 4 are StreamCall of virtual_gpu/device_clock.h.
enum class StreamAction : std::uint32_t {
  block_used = 0,
  record = 1,
  stream_waits = 2,
  host_waits_for_event = 3,
  host_waits_for_stream = 4
};

/// One call; 40 bytes, written to a file as they are.
struct StreamCall {
  std::uint64_t position;  // how many allocator events came before
  std::uint64_t stream;
  std::uint64_t event;  // block_used: the address of the freed block that waits for `stream`
  std::uint64_t work;   // how many pieces of work the stream had been given
  StreamAction action;
  std::uint32_t unused;
};
static_assert(sizeof(StreamCall) == 40);

void start_logging_streams();
/// The allocator's event number `count - 1` is `action` on the block at `address`.  On the allocating thread, the
/// allocator's lock held.
void allocator_event_was_logged(Action action, std::uint64_t address, std::size_t count);
/// This thread has left the allocator: what it records from here on is its own.
void allocator_was_left();

}  // namespace tidemark
