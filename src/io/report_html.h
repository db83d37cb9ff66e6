// A report as one HTML file that needs nothing else: style, script and chart are inside.
#pragma once
#include <string>

#include "estimate/report.h"

namespace tidemark::io {

std::string report_to_html(const Report& report);

}  // namespace tidemark::io
