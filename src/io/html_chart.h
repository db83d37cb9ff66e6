// The timeline as SVG: allocated and reserved bytes over the events of the run.
#pragma once
#include <string>

#include "estimate/report.h"

namespace tidemark::io {

/// Empty without at least two points.
std::string timeline_chart(const Report& report);

}  // namespace tidemark::io
