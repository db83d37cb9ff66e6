// What is varied: a name, its values, and the places of a command where it stands.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "plan/growth.h"

namespace tidemark::vary {

struct Varied {
  std::string name;
  std::vector<std::string> values;  // in the order in which memory grows with them
  std::vector<double> sizes;        // the values, where they are numbers that rise, else 1, 2, 3 …
};

/// NAME=FIRST..LAST for whole numbers, FIRST..LAST:STEP, FIRST..LAST*FACTOR, or a list A,B,C, in the order in which
/// memory grows.  Throws Error{bad_value}.
Varied read_varied(std::string_view text);

/// Throws Error{bad_value} as well when a name is there twice or none is, or where together they are too many.
std::vector<Varied> read_all_varied(const std::vector<std::string>& texts);

/// `command` with {NAME} replaced.  {{NAME}} stays as {NAME}, and so does every other brace.
std::vector<std::string> filled_in(const std::vector<std::string>& command, const std::vector<Varied>& varied,
                                   const Point& point);

/// Throws Error{bad_value} when a name does not stand in `command`, or one stands there that was probably meant for it.
void check_places(const std::vector<std::string>& command, const std::vector<Varied>& varied);

/// "batch=16 seq=2048"
std::string text_of(const std::vector<Varied>& varied, const Point& point);

}  // namespace tidemark::vary
