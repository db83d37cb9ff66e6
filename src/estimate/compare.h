// Two records of the same training side by side, and the first event in which they differ.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimate/report.h"

namespace tidemark {

/// One allocation or free, as "+bytes operation module" tells it.
struct MemoryEvent {
  std::int64_t bytes = 0;
  bool is_free = false;
  std::string operation, module;  // "-" where there is none
  bool operator==(const MemoryEvent&) const = default;
};

/// What is known of one run, whichever file it comes from.
struct MemoryRecord {
  std::string name;                                                                            // of the file
  std::optional<std::int64_t> allocated_bytes, reserved_bytes, device_bytes, requested_bytes;  // at their peaks
  std::vector<NamedBytes> by_category;
  std::vector<StepReport> steps;
  std::vector<TimelinePoint> timeline;
  std::optional<std::vector<MemoryEvent>> events;
  bool events_are_requests =
      false;  // sizes as the program asked for them, as in PyTorch's snapshots; else those of blocks
  std::vector<std::string> notes;
};

MemoryRecord record_of(const Report& report, std::string name);

/// With the peak that the events add up to.  Throws Error{bad_value} when that passes 2^63.
MemoryRecord record_of(std::vector<MemoryEvent> events, std::string name);

struct ComparedBytes {
  std::string name;
  std::optional<std::int64_t> a, b;
  bool exact = true;  // whether a difference means something: not where one side is counted in another way
};

/// Where two sequences part: everything before was equal.
struct Divergence {
  std::string what;                             // "step 1, backward: peak allocated 5 against 6"
  std::int64_t equal_allocations = 0;           // before it; of events alone
  std::optional<std::size_t> a, b;              // index of the event; nothing when that side had ended
  std::vector<MemoryEvent> around_a, around_b;  // three events before and after it
  std::size_t first_a = 0, first_b = 0;         // index of the first of those
};

struct Comparison {
  std::string name_a, name_b;
  std::vector<ComparedBytes> totals, categories;
  bool compared_events = false, compared_steps = false;
  std::optional<Divergence> divergence;
  std::vector<std::string> notes;

  /// Whether nothing that both have exactly differs.
  bool same() const;
};

struct CompareOptions {
  bool names = false;  // operation and module of an event must agree too
};

/// Frees between two allocations are compared as a set: their order is not decided by the program.
Comparison compare(const MemoryRecord& a, const MemoryRecord& b, const CompareOptions& options = {});

}  // namespace tidemark
