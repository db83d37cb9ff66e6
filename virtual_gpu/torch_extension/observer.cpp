// Watches the allocator and says who asked.
//
// Note [Neutral]
// Nothing here holds a tensor, runs Python code or changes what PyTorch decides: allocator events come from its own trace trackers
// (c10/cuda/CUDACachingAllocator.h), operations from RecordFunction callbacks, as the profiler gets them.  A backward node is
// matched to the forward line and module that made it by sequence number, as the profiler does.
#include "observer.h"

#include <ATen/record_function.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <unordered_map>

#include "event_log.h"
#include "python_frames.h"
#include "stand_in.h"
#include "stream_log.h"

namespace tidemark {
namespace {

using c10::cuda::CUDACachingAllocator::TraceEntry;   // by this name in every supported version

constexpr std::size_t kLoggedAtMost = 20'000'000;   // a gigabyte of events; a longer run keeps its peaks and loses its detail

struct Log {
  std::mutex mutex;
  std::vector<Event> events;
  std::map<std::uint64_t, std::size_t> live;                       // address → its alloc event
  Interned operations, modules;
  std::atomic<std::uint8_t> phase{0};
  int device = 0;                                                  // the one that is watched
  bool truncated = false;
};

Log& log() {
  static auto* the = new Log;
  return *the;
}

/// Forward operations of one thread by the sequence number that their backward nodes will carry.
struct ForwardContexts {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::vector<std::pair<std::int64_t, Context>>> by_thread;
};

ForwardContexts& forward_contexts() {
  static auto* the = new ForwardContexts;
  return *the;
}

thread_local Context now;
thread_local int depth = 0;

void remember_forward(std::int64_t sequence) {
  const std::lock_guard lock(forward_contexts().mutex);
  auto& list = forward_contexts().by_thread[at::RecordFunction::currentThreadId()];
  if (!list.empty() && list.back().first >= sequence) {
    if (list.back().first == sequence) return;
    list.clear();   // the counter began again: another thread of the same number, or a new graph
  }
  list.emplace_back(sequence, now);
}

/// The forward context of the backward node with that sequence number: the last operation at or before it.
bool recall_forward(std::uint64_t thread, std::int64_t sequence, Context* context) {
  const std::lock_guard lock(forward_contexts().mutex);
  const auto list = forward_contexts().by_thread.find(thread);
  if (list == forward_contexts().by_thread.end()) return false;
  auto after = std::upper_bound(list->second.begin(), list->second.end(), sequence, [](std::int64_t s, const auto& entry) { return s < entry.first; });
  if (after == list->second.begin()) return false;
  *context = std::prev(after)->second;
  return true;
}

struct Saved : at::ObserverContext {
  Context context;
};

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& fn) {
  allocator_was_left();
  const bool backward_node = fn.scope() == at::RecordScope::BACKWARD_FUNCTION;
  if (depth++ > 0 && !backward_node) return nullptr;
  auto saved = std::make_unique<Saved>();
  saved->context = now;
  now.operation = log().operations.id(fn.name());
  if (backward_node) {
    Context forward;
    if (recall_forward(fn.forwardThreadId(), fn.seqNr(), &forward)) {
      now.module = forward.module;
      now.line = forward.line;
    }
    now.backward = true;
  } else if (!now.backward) {
    if (const std::uint32_t line = python_line()) now.line = line;
    if (fn.seqNr() >= 0) remember_forward(fn.seqNr());
  }
  return saved;
}

void on_end(const at::RecordFunction& fn, at::ObserverContext* context) {
  --depth;
  // What the engine does with a node's results (sums, casts) before it takes the next node belongs to that node.
  const bool engine_goes_on = fn.scope() == at::RecordScope::BACKWARD_FUNCTION && depth == 1;
  if (context && !engine_goes_on) now = static_cast<Saved*>(context)->context;
}

Action action_of(TraceEntry::Action action, bool* known) {
  *known = true;
  switch (action) {
    case TraceEntry::ALLOC: return Action::alloc;
    case TraceEntry::FREE_REQUESTED: return Action::free_requested;
    case TraceEntry::FREE_COMPLETED: return Action::free_completed;
    case TraceEntry::SEGMENT_ALLOC: case TraceEntry::SEGMENT_MAP: return Action::segment_alloc;
    case TraceEntry::SEGMENT_FREE: case TraceEntry::SEGMENT_UNMAP: return Action::segment_free;
    case TraceEntry::OOM: return Action::out_of_memory;
    default: *known = false; return Action::alloc;
  }
}

/// Until something is known about the block itself (`mark`).
Category category_by_phase(Phase phase) {
  switch (phase) {
    case Phase::forward: case Phase::backward: return Category::activations;
    case Phase::optimizer: return Category::workspace;   // what an optimizer keeps is marked as its state
    default: return Category::other;
  }
}

void on_event(const TraceEntry& entry) {
  bool known = false;
  const Action action = action_of(entry.action_, &known);
  if (!known || entry.device_ != log().device) return;
  const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(entry.device_);
  const auto phase = now.backward ? Phase::backward : static_cast<Phase>(log().phase.load());
  Event event{static_cast<std::uint64_t>(entry.addr_), static_cast<std::int64_t>(entry.size_), stats.active_bytes[0].current,
              reinterpret_cast<std::uint64_t>(entry.stream_), now.operation, now.module, now.line, action, phase,
              category_by_phase(phase), now.backward};
  const std::lock_guard lock(log().mutex);
  if (log().events.size() >= kLoggedAtMost) {
    log().truncated = true;
    return;
  }
  if (action == Action::alloc) log().live[event.address] = log().events.size();
  if (action == Action::free_completed) log().live.erase(event.address);
  log().events.push_back(event);
  allocator_event_was_logged(action, event.address, log().events.size());
}

/// Files the live block that holds `address` under `category`, and under `module` if one is given.
void mark(std::uint64_t address, Category category, std::uint32_t module = 0) {
  const std::lock_guard lock(log().mutex);
  auto after = log().live.upper_bound(address);
  if (after == log().live.begin()) return;
  const auto& [start, index] = *std::prev(after);
  Event& event = log().events[index];
  if (address < start + static_cast<std::uint64_t>(std::max<std::int64_t>(event.requested_bytes, 1))) {
    event.category = category;
    if (module) event.module = module;
  }
}

void on_role(const void* pointer, int role) {
  mark(reinterpret_cast<std::uint64_t>(pointer), role == 1 ? Category::workspace : Category::communication);
}

}  // namespace

void start_observing(int device) {
  log().device = device;
  c10::cuda::CUDACachingAllocator::attachAllocatorTraceTracker(&on_event);
  at::addGlobalCallback(at::RecordFunctionCallback(&on_start, &on_end).scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
  tidemark_on_role(&on_role);
  start_logging_streams();
}

std::uint32_t Interned::id(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), text, [](const auto& entry, const std::string& t) { return entry.first < t; });
  if (at != sorted_.end() && at->first == text) return at->second;
  const auto id = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(text);
  sorted_.insert(at, {text, id});
  return id;
}
std::string Interned::text(std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  return texts_.at(id);
}
std::uint32_t Interned::size() {
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint32_t>(texts_.size());
}

}  // namespace tidemark

using namespace tidemark;

extern "C" {   // for python/tidemark (ctypes)

std::uint32_t tidemark_module_id(const char* name) { return log().modules.id(name); }
std::uint32_t tidemark_enter_module(std::uint32_t module) {
  const std::uint32_t outer = now.module;
  now.module = module;
  return outer;
}
void tidemark_set_phase(int phase) { log().phase = static_cast<std::uint8_t>(phase); }
std::size_t tidemark_event_count() {
  const std::lock_guard lock(log().mutex);
  return log().events.size();
}
const void* tidemark_events() { return log().events.data(); }
bool tidemark_events_truncated() { return log().truncated; }
/// `pairs`: address and module number, in turn.
void tidemark_mark(const std::uint64_t* pairs, std::size_t count, int category) {
  for (std::size_t i = 0; i < count; ++i) mark(pairs[2 * i], static_cast<Category>(category), static_cast<std::uint32_t>(pairs[2 * i + 1]));
}
void tidemark_note_empty_cache() {
  Event event{};
  event.action = Action::empty_cache;
  // Asked before our lock is taken: the allocator calls on_event with its own lock held, so the other order could deadlock.
  event.active_bytes = c10::cuda::CUDACachingAllocator::getDeviceStats(static_cast<c10::DeviceIndex>(log().device)).active_bytes[0].current;
  const std::lock_guard lock(log().mutex);
  log().events.push_back(event);
  allocator_event_was_logged(event.action, 0, log().events.size());
}
std::uint32_t tidemark_text_count(int kind) { return kind == 0 ? log().operations.size() : kind == 1 ? log().modules.size() : line_count(); }
const char* tidemark_text(int kind, std::uint32_t id) {
  static thread_local std::string text;
  text = kind == 0 ? log().operations.text(id) : kind == 1 ? log().modules.text(id) : line_text(id);
  return text.c_str();
}

}  // extern "C"
