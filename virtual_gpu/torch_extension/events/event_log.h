// Every event of the caching allocator, with what was going on: the raw material of the report.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace tidemark {

enum class Action : std::uint8_t {
  alloc,
  free_requested,
  free_completed,
  segment_alloc,
  segment_free,
  out_of_memory,
  empty_cache
};
enum class Phase : std::uint8_t { other, forward, backward, optimizer };
enum class Category : std::uint8_t {
  other,
  parameters,
  gradients,
  optimizer_state,
  activations,
  workspace,
  communication,
  kv_cache
};

/// One event; 48 bytes, read by python/tidemark/inside/events.py in this layout.
struct Event {
  std::uint64_t address;
  std::int64_t requested_bytes;
  std::int64_t active_bytes;  // the allocator's own count just before this event took effect
  std::uint64_t stream;
  std::uint32_t operation, module, line;  // interned
  Action action;
  Phase phase;
  Category category;
  bool backward;
};
static_assert(sizeof(Event) == 48);

/// What the thread is doing; filed with each allocation.
struct Context {
  std::uint32_t operation = 0, module = 0, line = 0;
  Phase phase = Phase::other;
  bool backward = false;
};

/// Texts by number; 0 is "".
class Interned {
 public:
  std::uint32_t id(const std::string& text);
  std::string text(std::uint32_t id);
  std::uint32_t size();

 private:
  std::mutex mutex_;
  std::vector<std::string> texts_{""};
  std::vector<std::pair<std::string, std::uint32_t>> sorted_;
};

constexpr std::size_t kLoggedAtMost =
    20'000'000;  // a gigabyte of events; a longer run keeps its peaks and loses its detail

/// Of the calling thread.
Context& context();
/// Names of operations.
Interned& operations();
/// The stand-ins tell what a block is for: a workspace, a collective's buffer.
void listen_to_roles();
/// Appends an event with the thread's context; `active_bytes` is the allocator's count.
void log_event(Action action, std::uint64_t address, std::int64_t bytes, std::uint64_t stream,
               std::int64_t active_bytes);

}  // namespace tidemark
