// What record_allocator.py loads into the recorded program: every event of PyTorch's caching allocator, with its totals
// at that moment. Compiled against the torch that is being recorded; needed to make recordings, never to build or test.
#include <c10/cuda/CUDACachingAllocator.h>

#include <cstdint>
#include <mutex>
#include <vector>

namespace {

using c10::cuda::CUDACachingAllocator::TraceEntry;

struct Row {
  std::int64_t letter;  // as in docs/design/allocator.md, "The recording format"
  std::int64_t address, bytes, stream;
  std::int64_t allocated_bytes, reserved_bytes, active_bytes;
};
static_assert(sizeof(Row) == 56);

std::mutex mutex;
std::vector<Row>& rows() {
  static auto* the = new std::vector<Row>;
  return *the;
}

char letter_of(TraceEntry::Action action) {
  switch (action) {
    case TraceEntry::ALLOC: return 'a';
    case TraceEntry::FREE_REQUESTED: return 'f';
    case TraceEntry::FREE_COMPLETED: return 'c';
    case TraceEntry::SEGMENT_ALLOC: return '+';
    case TraceEntry::SEGMENT_FREE: return '-';
    case TraceEntry::SEGMENT_MAP: return 'm';
    case TraceEntry::SEGMENT_UNMAP: return 'u';
    case TraceEntry::OOM: return 'o';
    default: return 0;
  }
}

void add(char letter, std::int64_t address, std::int64_t bytes, std::int64_t stream) {
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(0);
  const std::lock_guard lock(mutex);
  rows().push_back({letter, address, bytes, stream, stats.allocated_bytes[0].current, stats.reserved_bytes[0].current,
                    stats.active_bytes[0].current});
}

void on_event(const TraceEntry& entry) {
  if (entry.device_ != 0 || letter_of(entry.action_) == 0) return;
  add(letter_of(entry.action_), static_cast<std::int64_t>(entry.addr_), static_cast<std::int64_t>(entry.size_),
      reinterpret_cast<std::int64_t>(entry.stream_));
}

}  // namespace

extern "C" {

void allocation_log_start() { c10::cuda::CUDACachingAllocator::attachAllocatorTraceTracker(&on_event); }
/// What the program asks for and the allocator's own trace does not show: 'r' record_stream, 'e' empty_cache, '.' the
/// end.
void allocation_log_mark(int letter, std::int64_t address, std::int64_t stream) {
  add(static_cast<char>(letter), address, 0, stream);
}
std::size_t allocation_log_count() { return rows().size(); }
const void* allocation_log_rows() { return rows().data(); }

}  // extern "C"
