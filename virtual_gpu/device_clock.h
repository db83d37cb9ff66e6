// The clock of this process's card, and how long its work takes by the card's figures.  The times are estimates: peak
// rates, no contention, one kernel at a time per stream.  They decide in which order things end, and never a number of
// bytes.
#pragma once
#include <cstddef>
#include <cstdint>

#include "clock.h"

namespace tidemark {

/// Follows TIDEMARK_CLOCK (instant, clock, late); `clock` without it.
Clock& device_clock();

enum class Precision : int { fp32 = 0, fp16 = 1, bf16 = 2, fp64 = 3 };
enum class Collective { all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, point_to_point };

/// Work of a length that is known here, queued on `stream` by the calling thread.  On a stream that is being captured
/// it goes into the graph.
void queue_kernel(const void* stream, std::uint64_t threads);
void queue_matmul(const void* stream, double flops, Precision precision);
void queue_fill(const void* stream, std::size_t bytes);
/// Waits as the driver does: for pageable host memory, and for any copy to the host that is not asynchronous.
void queue_copy(const void* stream, const void* to, const void* from, std::size_t bytes, bool asynchronous);
/// `bytes`: of the whole message (ranks x count x element for what gathers or scatters), as nccl-tests counts them.
void queue_collective(const void* stream, Collective kind, std::size_t bytes, int ranks);
void queue_work(const void* stream, Nanoseconds duration);

/// Queries as a program's threads ask them.
bool event_has_completed(const void* event);
bool stream_is_idle(const void* stream);

/// Tells the part inside PyTorch which calls order streams and make the host wait; see tidemark_on_stream_call.
enum class StreamCall : int { record = 1, stream_waits = 2, host_waits_for_event = 3, host_waits_for_stream = 4 };
void tell_stream_call(StreamCall call, const void* stream, const void* event);
/// The host waits for all work on the card; told as a wait for each stream.
void wait_for_device();

/// Pinned host memory, that copies need not wait for (cudart_memory.cpp).
bool is_pinned(const void* pointer);
/// Work for the graph that `stream` is captured into; false if none is (cudart_graph.cpp).
bool capture_work(const void* stream, Nanoseconds duration);

}  // namespace tidemark

extern "C" {
/// For the extension inside PyTorch, as in notes.h.  `work`: how many pieces of work the stream has been given so far.
__attribute__((visibility("default"))) void tidemark_on_stream_call(void (*callback)(int call, const void* stream,
                                                                                     const void* event,
                                                                                     std::uint64_t work));
/// An operation of which bytes and flops are known runs from here …
__attribute__((visibility("default"))) void tidemark_operation_begins(std::int64_t before[3]);
/// … to here.  If it queued work, that work takes at least as long as the card needs for them.
__attribute__((visibility("default"))) void tidemark_operation_ends(const std::int64_t before[3], double bytes,
                                                                    double flops, int precision);
/// How often completion was asked for, and how often the answer was no.
__attribute__((visibility("default"))) void tidemark_event_answers(std::int64_t answers[2]);
}
