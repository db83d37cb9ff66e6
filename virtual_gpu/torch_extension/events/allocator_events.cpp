// The caching allocator's own trace: every event of it, as it happens (c10/cuda/CUDACachingAllocator.h,
// AllocatorTraceTracker).
#include <c10/cuda/CUDACachingAllocator.h>

#include <atomic>

#include "event_log.h"
#include "stream_log.h"

namespace tidemark {
namespace {

using c10::cuda::CUDACachingAllocator::TraceEntry;  // by this name in every supported version

std::atomic<int> watched_device{0};

Action action_of(TraceEntry::Action action, bool* known) {
  *known = true;
  switch (action) {
    case TraceEntry::ALLOC: return Action::alloc;
    case TraceEntry::FREE_REQUESTED: return Action::free_requested;
    case TraceEntry::FREE_COMPLETED: return Action::free_completed;
    case TraceEntry::SEGMENT_ALLOC:
    case TraceEntry::SEGMENT_MAP: return Action::segment_alloc;
    case TraceEntry::SEGMENT_FREE:
    case TraceEntry::SEGMENT_UNMAP: return Action::segment_free;
    case TraceEntry::OOM: return Action::out_of_memory;
    default: *known = false; return Action::alloc;
  }
}

auto stats(int device) {
  return c10::cuda::CUDACachingAllocator::getDeviceStats(static_cast<c10::DeviceIndex>(device));
}

std::int64_t active_bytes(int device) { return stats(device).active_bytes[0].current; }

void on_event(const TraceEntry& entry) {
  bool known = false;
  const Action action = action_of(entry.action_, &known);
  if (!known || entry.device_ != watched_device) return;
  log_event(action, static_cast<std::uint64_t>(entry.addr_), static_cast<std::int64_t>(entry.size_),
            reinterpret_cast<std::uint64_t>(entry.stream_), active_bytes(entry.device_));
}

}  // namespace
}  // namespace tidemark

using namespace tidemark;

extern "C" {  // for python/tidemark (ctypes)

/// Once, after CUDA is initialised.  False: this allocator has no trace (cudaMallocAsync, a pluggable one).
bool tidemark_start_observing(int device) {
  watched_device = device;
  try {
    c10::cuda::CUDACachingAllocator::attachAllocatorTraceTracker(&on_event);
  } catch (const std::exception&) {
    return false;
  }
  listen_to_roles();
  start_logging_streams();
  return true;
}

/// What torch.cuda.memory_stats tells in some dozens of containers.
void tidemark_memory_now(std::int64_t* allocated, std::int64_t* peak_allocated, std::int64_t* peak_reserved) {
  const auto now = stats(watched_device);
  *allocated = now.allocated_bytes[0].current;
  *peak_allocated = now.allocated_bytes[0].peak;
  *peak_reserved = now.reserved_bytes[0].peak;
}

void tidemark_note_empty_cache() { log_event(Action::empty_cache, 0, 0, 0, active_bytes(watched_device)); }

}  // extern "C"
