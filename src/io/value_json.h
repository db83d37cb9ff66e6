// JSON to and from Value.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/value.h"

namespace tidemark::io {

/// Throws Error{bad_file}: for what is not JSON (with the line), for a key that stands in a map twice, for nesting
/// deeper than 32, for whole numbers past 64 bits.  `where` names the file in messages, `first_line` is where in it the
/// text begins.
Value value_from_json(std::string_view text, const std::string& where, std::int64_t first_line = 1);

/// The same of what Python wrote: Infinity and NaN, which JSON does not have, become null.
Value value_from_python_json(std::string_view text, const std::string& where);

/// Two spaces per level; ends with a line end.  Bytes that are not UTF-8 are replaced.
std::string value_to_json(const Value& value);
/// The same in one line.
std::string value_to_json_line(const Value& value);

}  // namespace tidemark::io
