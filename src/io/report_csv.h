// A report as rows for a spreadsheet: section, name, step, phase, three byte columns.
#pragma once
#include <string>

#include "estimate/report.h"

namespace tidemark::io {

std::string report_to_csv(const Report& report);

}  // namespace tidemark::io
