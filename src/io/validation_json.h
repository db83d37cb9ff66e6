// The result of `tidemark validate` as JSON, `tidemark.validation/1` (docs/reference/validation.schema.json).
#pragma once
#include <string>

#include "validate/validation.h"

namespace tidemark::io {

inline constexpr const char* kValidationSchema = "tidemark.validation/1";

std::string validation_to_json(const Validation& validation);

}  // namespace tidemark::io
