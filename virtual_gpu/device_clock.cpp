#include "device_clock.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "card.h"
#include "device_memory.h"
#include "watchdogs.h"

namespace tidemark {
namespace {

// "Getting Started with CUDA Graphs" (NVIDIA technical blog, 2019) measures 3.8 us per launch where launches overlap
// with kernels of 2.9 us: what a launch costs the host, and the least that a kernel occupies a stream.
constexpr Nanoseconds kLaunch = 3'800;
constexpr Nanoseconds kShortestKernel = 2'900;
// What PyTorch's dispatcher, autograd and Python need for an operation in eager mode besides its launches: of the order
// of a launch again.  Not measured here.
constexpr Nanoseconds kOperation = 5'000;
constexpr double kBytesPerThread =
    32;  // of a kernel of which only the grid is known: 16 bytes read and 16 written, one vector access each

std::atomic<void (*)(int, const void*, const void*, std::uint64_t)> on_stream_call{nullptr};

/// What this thread has queued since it began.
struct Queued {
  std::int64_t duration = 0, pieces = 0, operations = 0;
  const void* last_stream = nullptr;
  bool captured = false;
};
thread_local Queued queued;

EventOrder order_from_environment() {
  const char* text = std::getenv("TIDEMARK_CLOCK");
  if (text && std::strcmp(text, "instant") == 0) return EventOrder::instant;
  if (text && std::strcmp(text, "late") == 0) return EventOrder::late;
  return EventOrder::clock;
}

Nanoseconds time_for(double amount, double per_second) {
  return per_second > 0 ? static_cast<Nanoseconds>(std::llround(amount / per_second * 1e9)) : 0;
}

Nanoseconds memory_time(double bytes) {
  return time_for(bytes, static_cast<double>(card().memory_bandwidth_bytes_per_s));
}

double flops_per_second(Precision precision) {
  const double fp32 = static_cast<double>(card().fp32_flops);
  switch (precision) {
    case Precision::fp16: return card().fp16_flops ? static_cast<double>(card().fp16_flops) : fp32;
    case Precision::bf16: return card().bf16_flops ? static_cast<double>(card().bf16_flops) : fp32;
    case Precision::fp64: return fp32 / 2;
    case Precision::fp32: return fp32;
  }
  return fp32;
}

/// One direction of PCI Express with 16 lanes (PCI-SIG: 3.0, 4.0, 5.0), by the generation that the cards of an
/// architecture have.
double host_link_bytes_per_second() {
  const int major = card().compute_capability_major;
  return major >= 9 ? 63.0e9 : major == 8 ? 31.5e9 : 15.75e9;
}

/// nccl-tests, doc/PERFORMANCE.md: time x bandwidth / size of a collective that is as fast as the links.
double link_crossings(Collective kind, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  switch (kind) {
    case Collective::all_reduce: return 2 * others;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all: return others;
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::point_to_point: return ranks > 1 ? 1 : 0;
  }
  return 1;
}

}  // namespace

Clock& device_clock() {
  static auto* clock =
      new Clock(order_from_environment());  // never destroyed: threads end after static destructors have run
  return *clock;
}

void queue_work(const void* stream, Nanoseconds duration) {
  duration = std::max(duration, kShortestKernel);
  queued.duration += duration;
  ++queued.pieces;
  queued.last_stream = stream;
  device_clock().host_works(kLaunch);
  queued.captured = capture_work(stream, duration);
  if (!queued.captured) device_clock().queue(stream, duration);
}

void queue_kernel(const void* stream, std::uint64_t threads) {
  queue_work(stream, memory_time(static_cast<double>(threads) * kBytesPerThread));
}
void queue_matmul(const void* stream, double flops, Precision precision) {
  queue_work(stream, time_for(flops, flops_per_second(precision)));
}
void queue_fill(const void* stream, std::size_t bytes) { queue_work(stream, memory_time(static_cast<double>(bytes))); }

/// CUDA Runtime API, "API synchronization behavior": from pageable memory the stream is waited for, then the data
/// staged; to pageable memory, and for anything synchronous but a copy within the card, the host waits until all is
/// done.
void queue_copy(const void* stream, const void* to, const void* from, std::size_t bytes, bool asynchronous) {
  const bool from_card = device_memory().owns(from), to_card = device_memory().owns(to);
  if (from_card && to_card) return queue_work(stream, memory_time(2.0 * static_cast<double>(bytes)));
  if (!from_card && !to_card) return;
  const bool pageable = !is_pinned(from_card ? to : from);
  const auto waits = [&] {
    device_clock().synchronize_stream(stream);
    tell_stream_call(StreamCall::host_waits_for_stream, stream, nullptr);
  };
  if (to_card && pageable) waits();
  queue_work(stream, time_for(static_cast<double>(bytes), host_link_bytes_per_second()));
  if (!asynchronous || (from_card && pageable)) waits();
}

void queue_collective(const void* stream, Collective kind, std::size_t bytes, int ranks) {
  before_collective(stream);
  queue_work(stream, time_for(static_cast<double>(bytes) * link_crossings(kind, ranks),
                              static_cast<double>(card().link_bytes_per_s)));
}

bool event_has_completed(const void* event) {
  return this_thread_watches() ? watchdog_sees(event) : device_clock().ask_event(event);
}
bool stream_is_idle(const void* stream) { return device_clock().ask_stream(stream); }

void tell_stream_call(StreamCall call, const void* stream, const void* event) {
  if (auto* callback = on_stream_call.load())
    callback(static_cast<int>(call), stream, event, device_clock().work_queued(stream));
}

void wait_for_device() {
  device_clock().synchronize_device();
  for (const void* stream : device_clock().streams())
    tell_stream_call(StreamCall::host_waits_for_stream, stream, nullptr);
}

}  // namespace tidemark

using namespace tidemark;

void tidemark_on_stream_call(void (*callback)(int, const void*, const void*, std::uint64_t)) {
  on_stream_call = callback;
}

void tidemark_operation_begins(std::int64_t before[3]) {
  before[0] = queued.duration;
  before[1] = queued.pieces;
  before[2] = queued.operations;
}

void tidemark_operation_ends(const std::int64_t before[3], double bytes, double flops, int precision) {
  if (queued.pieces == before[1]) return;  // a view, an allocation: nothing ran
  if (queued.operations == before[2]) {    // the innermost one
    ++queued.operations;
    device_clock().host_works(kOperation);
  }
  const Nanoseconds needed =
      std::max(memory_time(bytes), time_for(flops, flops_per_second(static_cast<Precision>(precision))));
  const Nanoseconds more = needed - (queued.duration - before[0]);
  if (more <= 0 || queued.captured) return;
  queued.duration += more;
  device_clock().prolong(queued.last_stream, more);
}

void tidemark_event_answers(std::int64_t answers[2]) {
  const Clock::Answers so_far = device_clock().answers();
  answers[0] = so_far.asked;
  answers[1] = so_far.not_ready;
}
