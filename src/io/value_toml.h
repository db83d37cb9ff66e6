// TOML to Value, and back.
#pragma once
#include <string>
#include <string_view>

#include "base/value.h"

namespace tidemark::io {

/// A document of TOML 1.0; a date is a text.  Each value knows its line.  Throws Error{bad_file} with the line for what
/// is not TOML, and for nesting deeper than 32.  `where` names the file in messages.
Value value_from_toml(std::string_view text, const std::string& where);

/// A map of tables whose values are scalars or lists of them.
std::string value_to_toml(const Value& map);

}  // namespace tidemark::io
