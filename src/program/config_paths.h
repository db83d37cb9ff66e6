// Values within a configuration, by dotted paths: "text_config.hidden_size".
#pragma once
#include <string_view>

#include "base/value.h"

namespace tidemark {

/// What is at a path; nullptr where there is nothing.
const Value* find_path(const Value& config, std::string_view path);
/// Puts it there, and maps around it where there are none.
void set_path(Value& config, std::string_view path, const Value& value);
/// Whether a text names the path, or a number of a list there ("short_factor.count"), and not that of another part.
bool names_path(std::string_view text, std::string_view path);

}  // namespace tidemark
