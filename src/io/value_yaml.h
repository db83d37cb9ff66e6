// YAML to Value: the part of YAML 1.2 that configurations are written in.
#pragma once
#include <string>
#include <string_view>

#include "base/value.h"

namespace tidemark::io {

/// One document, its scalars by YAML's core schema (`yes` is a text, `0x10` is 16).  Each value knows its line.
/// Throws Error{bad_file} with the line: for what is not YAML, for aliases, tags, a second document, keys that are not
/// texts or stand twice, nesting deeper than 32.  `where` names the file in messages.
Value value_from_yaml(std::string_view text, const std::string& where);

}  // namespace tidemark::io
