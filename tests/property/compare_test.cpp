// Sequences of events: the order of frees between two allocations never counts, everything else always does.
#include <gtest/gtest.h>
// (rapidcheck's header wants GoogleTest's first)
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>

#include "estimate/compare.h"

namespace tidemark {
namespace {

std::vector<MemoryEvent> any_events() {
  std::vector<MemoryEvent> events;
  for (const int number : *rc::gen::container<std::vector<int>>(rc::gen::inRange(-3, 4)))
    events.push_back({512 * std::abs(number), number < 0, number % 2 ? "a" : "b", "m"});
  return events;
}

std::optional<Divergence> difference(const std::vector<MemoryEvent>& a, const std::vector<MemoryEvent>& b) {
  return compare(record_of(a, "a"), record_of(b, "b"), {.names = true}).divergence;
}

RC_GTEST_PROP(Compare, OrderOfFreesBetweenAllocationsDoesNotCount, (unsigned seed)) {
  const auto events = any_events();
  auto other = events;
  std::mt19937 random(seed);
  for (auto from = other.begin(); from != other.end();) {
    from = std::find_if(from, other.end(), [](const MemoryEvent& event) { return event.is_free; });
    const auto end = std::find_if(from, other.end(), [](const MemoryEvent& event) { return !event.is_free; });
    std::shuffle(from, end, random);
    from = end;
  }
  RC_ASSERT(!difference(events, other));
}

RC_GTEST_PROP(Compare, OneChangedEventIsFoundFromBothSides, ()) {
  auto events = any_events();
  RC_PRE(!events.empty());
  auto other = events;
  const auto at = *rc::gen::inRange<std::size_t>(0, other.size());
  other[at].bytes += 1;
  const auto found = difference(events, other), back = difference(other, events);
  RC_ASSERT(found && back);
  RC_ASSERT(found->equal_allocations == back->equal_allocations);
  // Before it: the frees of the same group at most.
  RC_ASSERT(found->a.value_or(events.size()) <= at + 1 || events[at].is_free);
  RC_ASSERT(found->equal_allocations == std::count_if(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(at),
                                                      [](const MemoryEvent& event) { return !event.is_free; }));
}

}  // namespace
}  // namespace tidemark
