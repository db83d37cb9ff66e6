#include "base/read_stream.h"

#include <array>

namespace tidemark {

std::string read_stream(std::istream& stream) {
  std::string text;
  std::array<char, 65536> block;
  do {
    stream.read(block.data(), block.size());
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
  } while (stream);
  return text;
}

}  // namespace tidemark
