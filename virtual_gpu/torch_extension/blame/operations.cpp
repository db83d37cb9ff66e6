// Who asks the allocator: the operation, the Python line, and in backward those of the forward operation that made the
// node.
//
// Note [Neutral]
// Nothing here holds a tensor, runs Python code or changes what PyTorch decides: operations come from RecordFunction
// callbacks, as the profiler gets them.  A backward node is matched to the forward line and module that made it by
// sequence number, as the profiler does.
#include <ATen/record_function.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "../assumptions/python_frames.h"
#include "../events/event_log.h"
#include "../events/stream_log.h"

namespace tidemark {
namespace {

/// Forward operations of one thread by the sequence number that their backward nodes will carry.
struct ForwardContexts {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::vector<std::pair<std::int64_t, Context>>> by_thread;
};

ForwardContexts& forward_contexts() {
  static auto* the = new ForwardContexts;
  return *the;
}

thread_local int depth = 0;

void remember_forward(std::int64_t sequence) {
  const std::lock_guard lock(forward_contexts().mutex);
  auto& list = forward_contexts().by_thread[at::RecordFunction::currentThreadId()];
  if (!list.empty() && list.back().first >= sequence) {
    if (list.back().first == sequence) return;
    list.clear();  // the counter began again: another thread of the same number, or a new graph
  }
  list.emplace_back(sequence, context());
}

/// The forward context of the backward node with that sequence number: the last operation at or before it.
bool recall_forward(std::uint64_t thread, std::int64_t sequence, Context* found) {
  const std::lock_guard lock(forward_contexts().mutex);
  const auto list = forward_contexts().by_thread.find(thread);
  if (list == forward_contexts().by_thread.end()) return false;
  auto after = std::upper_bound(list->second.begin(), list->second.end(), sequence,
                                [](std::int64_t s, const auto& entry) { return s < entry.first; });
  if (after == list->second.begin()) return false;
  *found = std::prev(after)->second;
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
  Context& now = context();
  saved->context = now;
  now.operation = operations().id(fn.name());
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

void on_end(const at::RecordFunction& fn, at::ObserverContext* saved) {
  --depth;
  // What the engine does with a node's results (sums, casts) before it takes the next node belongs to that node.
  const bool engine_goes_on = fn.scope() == at::RecordScope::BACKWARD_FUNCTION && depth == 1;
  if (saved && !engine_goes_on) context() = static_cast<Saved*>(saved)->context;
}

}  // namespace
}  // namespace tidemark

extern "C" void tidemark_start_blaming() {  // for python/tidemark (ctypes)
  at::addGlobalCallback(at::RecordFunctionCallback(&tidemark::on_start, &tidemark::on_end)
                            .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}
