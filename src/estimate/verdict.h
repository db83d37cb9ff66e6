// From peaks to an answer: does it fit on the card?
#pragma once
#include <string>
#include <string_view>

#include "estimate/report.h"

namespace tidemark {

std::string_view name_of(Phase phase);

/// What the device holds besides the allocator's segments: the sum of report.device.  A report without such a list has
/// the context and the driver's part alone.
BytesRange device_overhead_bytes(const Report& report);

/// Whether a longer run could only have found a higher peak: the program was stopped while its batches varied.
bool may_rise(const Report& report);
/// The inputs that varied, and what that means; for a report with varying inputs.
std::string varying_line(const Report& report);

/// What was drawn and what the peak is that of; for a report with `data`.
std::string data_line(const DataReport& data);
/// What compiling adds to the peak.
std::string compiling_line(const CompilingReport& compiling, const Peak& peak);

/// How many sequences the cache holds, which is also bounded by the batch.
std::int64_t served_sequences(const ServingReport& serving);

/// "margin p90 of 93 measured residuals (text): +1.4 %, 420 MiB"
/// Those that move the peak come first.
std::vector<Assumption> ranked_assumptions(const Report& report);

std::string margin_line(const Margin& margin);

/// Fills in peak.device_bytes, fits and verdict from the card, the peaks, the account of the device, the interval and
/// the out-of-memory record.
void judge(Report& report);

}  // namespace tidemark
