// Programs of whole families that come with Tidemark: data/programs/RELEASE OF TRANSFORMERS/MODEL_TYPE.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "estimate/spec.h"

namespace tidemark::cli {

/// The file of a model type, of the release of transformers that is asked for, else of the nearest before it, else of the oldest; none where the
/// family as it is written in C++ is nearer.
std::optional<std::filesystem::path> shipped_program(const std::string& model_type, const Spec& spec);

/// All model types that have one, in order.
std::vector<std::string> shipped_model_types();

}  // namespace tidemark::cli
