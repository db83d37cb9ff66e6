// A spec as YAML: the same keys as in JSON.
#pragma once
#include <string>
#include <string_view>

#include "estimate/spec.h"

namespace tidemark::io {

/// Throws Error with the line.  `where` names the file in messages.
Spec read_spec_yaml(std::string_view text, const std::string& where);

/// A spec file before its fields are read, so that options can be laid over it: JSON when `where` ends in .json or the
/// text begins with a brace, else YAML.  An empty file is an empty map.
Value value_of_spec_file(std::string_view text, const std::string& where);

}  // namespace tidemark::io
