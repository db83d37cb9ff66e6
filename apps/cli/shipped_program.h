// Programs of whole families that come with Tidemark: data/programs/RELEASE OF TRANSFORMERS/MODEL_TYPE.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "estimate/spec.h"

namespace tidemark::cli {

/// The files of a model type: that of the release of transformers that is asked for, else of the nearest before it, else of the oldest; then, for what
/// that does not hold for, those of other releases.  None where the family as it is written in C++ is nearer.
std::vector<std::filesystem::path> shipped_programs(const std::string& model_type, const Spec& spec, const Value& model_config);

/// All model types that have one, in order, and what they are trained for.
std::map<std::string, std::vector<std::string>> shipped_model_types();

}  // namespace tidemark::cli
