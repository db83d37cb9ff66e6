// A report as one HTML file that needs nothing else: style, script and data are inside.
#pragma once
#include <span>
#include <string>

#include "estimate/category_timeline.h"
#include "estimate/report.h"

namespace tidemark::io {

/// Of the components of the page in the browser (apps/web/report).  `categories`: what is live of each at each point of the
/// timeline, in its order; empty where that is not known.
std::string report_to_html(const Report& report, std::span<const BytesByCategory> categories = {});

}  // namespace tidemark::io
