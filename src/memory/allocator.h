// What every allocator here does for a training step: bytes on streams, with totals and one event per thing that
// happens.
#pragma once
#include <cstdint>
#include <string_view>

namespace tidemark {

/// A CUDA stream by number.  Streams are ordered by it, as PyTorch orders them by handle; 0 is the default stream.
using StreamId = std::uint32_t;
inline constexpr StreamId kMaxStreams = 1024;

/// Names a live allocation.  An id is used again after its allocation has been freed.
using AllocationId = std::uint32_t;
inline constexpr AllocationId kOutOfMemory = 0xffffffff;  // alloc() did not fit
inline constexpr AllocationId kNoBytes = 0xfffffffe;      // alloc(0): nothing to free, and free() accepts it

enum class EventKind : std::uint8_t {
  alloc,           // bytes as requested, not rounded
  free_requested,  // the program let go; the memory may still be in use on another stream
  free_completed,
  segment_alloc,  // from the driver
  segment_free,
  segment_map,  // expandable segments
  segment_unmap,
  out_of_memory,  // address holds the bytes that the driver had free
};

std::string_view name_of(EventKind kind);

/// allocated: handed out.  active: that and what waits for another stream.  reserved: held from the driver.
struct Totals {
  std::int64_t allocated_bytes = 0, reserved_bytes = 0, active_bytes = 0;
  bool operator==(const Totals&) const = default;
};

/// `totals` are those at the moment when PyTorch's own trace is told: an alloc and a free_completed are not yet in
/// them, a free_requested and the events of segments (but segment_free) are.
struct AllocatorEvent {
  EventKind kind = EventKind::alloc;
  std::int64_t address = 0, bytes = 0;
  StreamId stream = 0;
  Totals totals;
  bool operator==(const AllocatorEvent&) const = default;
};

class AllocatorObserver {
 public:
  virtual ~AllocatorObserver() = default;
  virtual void on_event(const AllocatorEvent& event) = 0;
};

/// Not thread-safe: a run owns its allocator.
class Allocator {
 public:
  virtual ~Allocator() = default;

  /// kOutOfMemory when it does not fit, which is an answer and not an error.
  virtual AllocationId alloc(std::int64_t requested_bytes, StreamId stream) = 0;
  virtual void free(AllocationId id) = 0;
  /// The allocation is in use on `stream` too: its memory is not given out again before that stream has finished.
  virtual void record_stream(AllocationId id, StreamId stream) = 0;
  virtual void empty_cache() = 0;

  virtual Totals totals() const = 0;
};

}  // namespace tidemark
