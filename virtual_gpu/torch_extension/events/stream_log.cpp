// Note [Which blocks other streams used]
// Nothing is traced when a block is used on another stream (Tensor.record_stream, ProcessGroupNCCL).  But when such a
// block is freed, the allocator records one event per stream that used it, right after it has traced the request
// (DeviceCachingAllocator::free and insert_events, c10/cuda/CUDACachingAllocator.cpp); a block that no other stream
// used is traced as freed instead.  So an event that a thread records between its FREE_REQUESTED and anything else is
// the allocator's, and tells block and stream.  Two kinds of event there are the program's own: one more on a stream
// that had its event, and one that a stream is made to wait for, which is known when it waits.
#include "stream_log.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "../stand_in.h"
#include "event_log.h"

namespace tidemark {
namespace {

struct Calls {
  std::mutex mutex;
  std::vector<StreamCall> list;
  std::size_t blocks_used = 0;
  std::unordered_map<std::uint64_t, std::size_t>
      taken_for_the_allocators;  // events, by handle: which calls last recorded them
};

Calls& calls() {
  static auto* the = new Calls;
  return *the;
}

std::atomic<std::size_t> position{0};
thread_local std::uint64_t just_freed = 0;
thread_local std::vector<std::uint64_t> streams_that_used;  // what was just freed, as far as is known

bool is_the_allocators(const StreamCall& call) {
  return call.action == StreamAction::record && just_freed &&
         std::find(streams_that_used.begin(), streams_that_used.end(), call.stream) == streams_that_used.end();
}

/// The lock is held.
void take_for_the_programs(std::uint64_t event) {
  const auto found = calls().taken_for_the_allocators.find(event);
  if (found == calls().taken_for_the_allocators.end()) return;
  StreamCall& call = calls().list[found->second];
  call.action = StreamAction::record;
  call.event = event;
  --calls().blocks_used;
  calls().taken_for_the_allocators.erase(found);
}

void on_call(int call, const void* stream, const void* event, std::uint64_t work) {
  const auto action = static_cast<StreamAction>(call);
  StreamCall entry{
      position, reinterpret_cast<std::uint64_t>(stream), reinterpret_cast<std::uint64_t>(event), work, action, 0};
  const std::lock_guard lock(calls().mutex);
  if (calls().list.size() >= kLoggedAtMost) return;  // as for the allocator's events, without which these mean nothing
  if (is_the_allocators(entry)) {
    entry.action = StreamAction::block_used;
    entry.event = just_freed;
    streams_that_used.push_back(entry.stream);
    ++calls().blocks_used;
    calls().taken_for_the_allocators[reinterpret_cast<std::uint64_t>(event)] = calls().list.size();
  } else {
    just_freed = 0;
    if (action == StreamAction::stream_waits) take_for_the_programs(entry.event);
    if (action == StreamAction::record) calls().taken_for_the_allocators.erase(entry.event);
  }
  calls().list.push_back(entry);
}

}  // namespace

void start_logging_streams() { tidemark_on_stream_call(&on_call); }

void allocator_event_was_logged(Action action, std::uint64_t address, std::size_t count) {
  position = count;
  just_freed = action == Action::free_requested ? address : 0;
  streams_that_used.clear();
}

void allocator_was_left() { just_freed = 0; }

}  // namespace tidemark

using namespace tidemark;

extern "C" {  // for python/tidemark (ctypes)

std::size_t tidemark_stream_call_count() {
  const std::lock_guard lock(calls().mutex);
  return calls().list.size();
}
const void* tidemark_stream_calls() { return calls().list.data(); }
std::size_t tidemark_blocks_used_elsewhere() {
  const std::lock_guard lock(calls().mutex);
  return calls().blocks_used;
}

}  // extern "C"
