// Report <-> JSON, `tidemark.report/1` (docs/reference/report.schema.json).
#pragma once
#include <string>
#include <string_view>

#include "estimate/report.h"

namespace tidemark::io {

inline constexpr const char* kReportSchema = "tidemark.report/1";

/// Throws Error{bad_file}.  Keys that a process cannot know (card, fits, verdict, script, host) may be left out; a key
/// that the schema does not have is refused.
Report read_report(std::string_view text, const std::string& where);

std::string write_report(const Report& report);

}  // namespace tidemark::io
