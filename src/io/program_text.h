// A captured program from its text; docs/reference/programs.md.
#pragma once
#include <string>
#include <string_view>

#include "program/program.h"

namespace tidemark::io {

/// Throws as read_program does.  `name` is the file's, for messages.
Program read_program_text(std::string_view text, const std::string& name);

}  // namespace tidemark::io
