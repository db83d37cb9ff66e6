// The result of `tidemark validate` as one HTML file that needs nothing else.
#pragma once
#include <string>

#include "validate/validation.h"

namespace tidemark::io {

std::string validation_to_html(const Validation& validation);

}  // namespace tidemark::io
