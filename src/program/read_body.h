// A class of a program: its statements.
#pragma once
#include <string_view>
#include <vector>

#include "program/program.h"

namespace tidemark {

struct ProgramLine {
  int number = 0;
  std::size_t indent = 0;
  std::string_view text;  // behind its indent
};

/// From its header at `at`, which is then behind it.
Body read_body(const Program& program, const std::vector<ProgramLine>& lines, std::size_t& at);

}  // namespace tidemark
