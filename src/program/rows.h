// What a family's program does for each image, layer or chunk of a text, and lists with a value of each, written out
// for as many as there are.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "program/read_body.h"

namespace tidemark {

/// "each i in 0..images - 1:" and what is in it, as many times; "%4[i + 1]" is then the value %4.1, and
/// "%4[images - 1..0]" all from one to the other.  What is done for each image of each sample is "each i in" within
/// "each j in", and "%4[j][i]" the value %4.0.1 of a row of rows.  Whatever was counted is noted in program.counted.
/// `texts` keeps what the lines are made of.
std::vector<ProgramLine> written_out(const std::vector<ProgramLine>& lines, std::size_t first, Program& program,
                                     std::deque<std::string>& texts);

}  // namespace tidemark
