// From peaks to an answer: does it fit on the card?
#pragma once
#include <string>
#include <string_view>

#include "estimate/report.h"

namespace tidemark {

std::string_view name_of(Phase phase);

/// What the device holds besides the allocator's segments.
std::int64_t device_overhead_bytes(const ReportCard& card);

/// Fills in peak.device_bytes, fits and verdict from the card, the peaks, the interval and the out-of-memory record.
void judge(Report& report);

}  // namespace tidemark
