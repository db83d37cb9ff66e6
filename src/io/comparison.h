// Two runs compared, for a terminal and as JSON (`tidemark.diff/1`).
#pragma once
#include <string>

#include "estimate/compare.h"

namespace tidemark::io {

std::string comparison_to_text(const Comparison& comparison);
std::string comparison_to_json(const Comparison& comparison);

}  // namespace tidemark::io
