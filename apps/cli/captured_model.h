// A model that is not known here, captured by the Python that the user has active.
#pragma once
#include <filesystem>

#include "environment.h"
#include "estimate/spec.h"
#include "program/program.h"

namespace tidemark::cli {

/// Runs `python -m tidemark.capture` of the configuration in `config`, with the sizes and settings of `spec`; what was
/// captured before is kept by it.  `refusal`: why no program that is shipped will do; empty where there is none. Throws
/// Error{unsupported} that says why there is no program.
Program captured_model(const Spec& spec, const Value& model_config, const std::filesystem::path& config,
                       const std::string& refusal, const Environment& environment);

/// The same of FILE.py:FUNCTION, which returns a module and what its forward is called with; it is asked for the batch,
/// seq and images that `spec` says, keys of a spec file.  It is captured each time.  Throws Error.
Program captured_function(const std::string& source, const Value& spec, const Environment& environment);

}  // namespace tidemark::cli
