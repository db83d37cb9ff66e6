// The figures of an engine that serves, for a terminal.
#pragma once
#include <string>

#include "estimate/report.h"

namespace tidemark::io {

std::string serving_to_text(const ServingReport& serving);

}  // namespace tidemark::io
