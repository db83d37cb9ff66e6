// Programs of whole families that come with Tidemark: data/programs/RELEASE OF TRANSFORMERS/MODEL_TYPE.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "answers/family_programs.h"
#include "estimate/spec.h"

namespace tidemark::cli {

/// The files of a model's family that may answer, the one to ask first in front (estimate/program.h,
/// programs_that_may_answer).
std::vector<std::filesystem::path> shipped_programs(const Spec& spec, const Value& model_config);

/// The same to be read when they are needed.
std::vector<answers::TextOf> shipped_families(const Spec& spec, const Value& model_config);

/// All model types that have one, in order, and what they are trained for.
std::map<std::string, std::vector<std::string>> shipped_model_types();

}  // namespace tidemark::cli
