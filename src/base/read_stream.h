// All that a stream has, block by block: a character at a time takes ten times as long.
#pragma once
#include <istream>
#include <string>

namespace tidemark {

/// As far as it could be read; `stream.bad()` tells of an error.
std::string read_stream(std::istream& stream);

}  // namespace tidemark
