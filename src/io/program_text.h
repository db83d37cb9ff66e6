// A captured program from its text; docs/reference/programs.md.
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "program/family.h"

namespace tidemark::io {

/// Throws as read_program does.  `name` is the file's, for messages.
Program read_program_text(std::string_view text, const std::string& name);

/// Of a family's program, that of one configuration.  Throws as read_family does.
Program read_family_text(std::string_view text, const std::string& name, const Value& config, const FamilyUse& use);

/// As tidemark::family_key_values.
std::map<std::string, Value> family_key_values(std::string_view text, const std::string& name, const Value& config,
                                               const FamilyUse& use);

}  // namespace tidemark::io
