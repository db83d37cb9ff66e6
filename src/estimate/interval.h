// What is left open by not knowing where the driver places segments, and when work on other streams ends.
#pragma once
#include <optional>

#include "estimate/report.h"
#include "tensor/run.h"

namespace tidemark {

/// The run's requests once more with the driver's addresses in the other order and, if streams used each other's
/// memory, with work on them that ends when the program waits for it, and never before; nothing when the peaks are
/// always the same.
std::optional<Interval> interval_of(const Run& run);

/// The later of both ends, with addresses as they were.
void replay_late(const Run& run, AllocatorObserver& observer);

}  // namespace tidemark
