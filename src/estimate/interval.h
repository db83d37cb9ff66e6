// What is left open by not knowing where the driver places segments.
#pragma once
#include <optional>

#include "estimate/report.h"
#include "tensor/run.h"

namespace tidemark {

/// The run's requests once more with the driver's addresses in the other order; nothing when the peaks are the same.
std::optional<Interval> interval_of_addresses(const Run& run);

}  // namespace tidemark
