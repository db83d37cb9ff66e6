// A model of a family that is not known here, captured by the Python that the user has active.
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

}  // namespace tidemark::cli
