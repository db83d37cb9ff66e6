#include "event_log.h"

#include <algorithm>
#include <atomic>
#include <map>

#include "../assumptions/python_frames.h"
#include "../stand_in.h"
#include "stream_log.h"

namespace tidemark {
namespace {

struct Log {
  std::mutex mutex;
  std::vector<Event> events;
  std::map<std::uint64_t, std::size_t> live;  // address → its alloc event
  Interned operations, modules;
  std::atomic<std::uint8_t> phase{0};
  bool truncated = false;
};

Log& log() {
  static auto* the = new Log;
  return *the;
}

/// Until something is known about the block itself (`mark`).
Category category_by_phase(Phase phase) {
  switch (phase) {
    case Phase::forward:
    case Phase::backward: return Category::activations;
    case Phase::optimizer: return Category::workspace;  // what an optimizer keeps is marked as its state
    default: return Category::other;
  }
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

Context& context() {
  static thread_local Context now;
  return now;
}

Interned& operations() { return log().operations; }

void log_event(Action action, std::uint64_t address, std::int64_t bytes, std::uint64_t stream,
               std::int64_t active_bytes) {
  const Context& now = context();
  const auto phase = now.backward ? Phase::backward : static_cast<Phase>(log().phase.load());
  const Event event{address,     bytes,    active_bytes, stream, now.operation,
                    now.module,  now.line, action,       phase,  category_by_phase(phase),
                    now.backward};
  const std::lock_guard lock(log().mutex);
  if (log().events.size() >= kLoggedAtMost) {
    log().truncated = true;
    return;
  }
  if (action == Action::alloc) log().live[address] = log().events.size();
  if (action == Action::free_completed) log().live.erase(address);
  log().events.push_back(event);
  allocator_event_was_logged(action, address, log().events.size());
}

void listen_to_roles() { tidemark_on_role(&on_role); }

std::uint32_t Interned::id(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), text,
                                   [](const auto& entry, const std::string& t) { return entry.first < t; });
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

extern "C" {  // for python/tidemark (ctypes)

std::uint32_t tidemark_module_id(const char* name) { return log().modules.id(name); }
std::uint32_t tidemark_enter_module(std::uint32_t module) {
  const std::uint32_t outer = context().module;
  context().module = module;
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
  for (std::size_t i = 0; i < count; ++i)
    mark(pairs[2 * i], static_cast<Category>(category), static_cast<std::uint32_t>(pairs[2 * i + 1]));
}
std::uint32_t tidemark_text_count(int kind) {
  return kind == 0 ? log().operations.size() : kind == 1 ? log().modules.size() : line_count();
}
const char* tidemark_text(int kind, std::uint32_t id) {
  static thread_local std::string text;
  text = kind == 0 ? log().operations.text(id) : kind == 1 ? log().modules.text(id) : line_text(id);
  return text.c_str();
}

}  // extern "C"
