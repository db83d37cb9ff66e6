// The timeline of a report as JSON.
#pragma once
#include <string>

#include "estimate/report.h"

namespace tidemark::io {

/// The keys "timeline" and, where it is known, "timeline_by_category", as lines that stand between the braces of the
/// report.
std::string timeline_members(const Report& report);

}  // namespace tidemark::io
