// The config.json of a Hugging Face model.
#pragma once
#include <string>
#include <string_view>

#include "base/value.h"

namespace tidemark::io {

/// Any map with a "model_type".
/// Throws Error{bad_file}.  `where` names the file in messages.
Value read_hf_config(std::string_view text, const std::string& where);

/// The same checks for a configuration that stands in a spec.
void check_hf_config(const Value& config, const std::string& where);

}  // namespace tidemark::io
