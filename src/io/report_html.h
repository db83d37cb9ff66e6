// A report as one HTML file that needs nothing else: style, script and data are inside.
#pragma once
#include <string>

#include "estimate/report.h"

namespace tidemark::io {

/// Of the components of the page in the browser (apps/web/report).
std::string report_to_html(const Report& report);

}  // namespace tidemark::io
