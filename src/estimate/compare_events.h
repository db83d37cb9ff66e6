// The first event in which two sequences of allocations and frees differ; a part of estimate/compare.
#pragma once
#include <optional>
#include <span>

#include "estimate/compare.h"

namespace tidemark {

struct EventRules {
  bool names = false;                           // operation and module count
  bool requests_a = false, requests_b = false;  // whose sizes are requests and whose those of blocks
};

std::optional<Divergence> first_divergence(std::span<const MemoryEvent> a, std::span<const MemoryEvent> b,
                                           const EventRules& rules);

}  // namespace tidemark
