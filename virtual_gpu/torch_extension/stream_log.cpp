// Note [Which blocks other streams used]
// Nothing is traced when a block is used on another stream (Tensor.record_stream, ProcessGroupNCCL).  But when such a block is freed, the
// allocator records one event per stream that used it, right after it has traced the request (DeviceCachingAllocator::free and
// insert_events, c10/cuda/CUDACachingAllocator.cpp); a block that no other stream used is traced as freed instead.  So an event that a
// thread records between its FREE_REQUESTED and anything else is the allocator's, and tells block and stream.
#include "stream_log.h"

#include <atomic>
#include <mutex>
#include <vector>

#include "stand_in.h"

namespace tidemark {
namespace {

constexpr std::size_t kLoggedAtMost = 20'000'000;   // as for the allocator's events, without which these mean nothing

struct Log {
  std::mutex mutex;
  std::vector<StreamCall> calls;
  std::size_t blocks_used = 0;
};

Log& log() {
  static auto* the = new Log;
  return *the;
}

std::atomic<std::size_t> position{0};
thread_local std::uint64_t just_freed = 0;

void on_call(int call, const void* stream, const void* event, std::uint64_t work) {
  const auto action = static_cast<StreamAction>(call);
  StreamCall entry{position, reinterpret_cast<std::uint64_t>(stream), reinterpret_cast<std::uint64_t>(event), work, action, 0};
  if (action != StreamAction::record) just_freed = 0;
  if (just_freed) {
    entry.action = StreamAction::block_used;
    entry.event = just_freed;
  }
  const std::lock_guard lock(log().mutex);
  if (log().calls.size() >= kLoggedAtMost) return;
  if (just_freed) ++log().blocks_used;
  log().calls.push_back(entry);
}

}  // namespace

void start_logging_streams() { tidemark_on_stream_call(&on_call); }

void allocator_event_was_logged(Action action, std::uint64_t address, std::size_t count) {
  position = count;
  just_freed = action == Action::free_requested ? address : 0;
}

void allocator_was_left() { just_freed = 0; }

}  // namespace tidemark

using namespace tidemark;

extern "C" {   // for python/tidemark (ctypes)

std::size_t tidemark_stream_call_count() {
  const std::lock_guard lock(log().mutex);
  return log().calls.size();
}
const void* tidemark_stream_calls() { return log().calls.data(); }
std::size_t tidemark_blocks_used_elsewhere() {
  const std::lock_guard lock(log().mutex);
  return log().blocks_used;
}

}  // extern "C"
