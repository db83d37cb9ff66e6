// Predicted against measured bytes as SVG, both axes logarithmic: a point on the diagonal has no error.
#pragma once
#include <string>
#include <vector>

#include "validate/validation.h"

namespace tidemark::io {

/// Empty when no row of any engine has an error.
std::string scatter_chart(const std::vector<EngineResult>& engines);

}  // namespace tidemark::io
