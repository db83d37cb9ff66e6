// tidemark validate --step-times: estimated step times beside measured ones.
#pragma once
#include "validate_options.h"

namespace tidemark::cli {

/// The exit code: 1 when a bar is missed.
int validate_times(const ValidateOptions& options);

}  // namespace tidemark::cli
