#include "lz4.h"

namespace tidemark {
namespace {

constexpr std::size_t kLengthGoesOn = 15, kShortestMatch = 4;

/// A length whose first four bits are in the token; 255 says that another byte follows.
bool read_length(std::span<const std::byte> block, std::size_t& at, std::size_t& length) {
  if (length != kLengthGoesOn) return true;
  for (std::size_t byte = 255; byte == 255; length += byte) {
    if (at == block.size()) return false;
    byte = std::to_integer<std::size_t>(block[at++]);
  }
  return true;
}

}  // namespace

std::vector<std::byte> lz4_decode(std::span<const std::byte> block, std::size_t bytes) {
  std::vector<std::byte> out;
  out.reserve(bytes);
  for (std::size_t at = 0; at < block.size() && out.size() < bytes;) {
    const auto token = std::to_integer<std::size_t>(block[at++]);
    std::size_t literals = token >> 4, match = token & 15;
    if (!read_length(block, at, literals) || literals > block.size() - at || literals > bytes - out.size()) return {};
    out.insert(out.end(), block.begin() + static_cast<std::ptrdiff_t>(at),
               block.begin() + static_cast<std::ptrdiff_t>(at + literals));
    at += literals;
    if (out.size() == bytes) return out;  // the last sequence has no match; fat binaries pad what follows
    if (block.size() - at < 2) return {};
    const std::size_t offset = std::to_integer<std::size_t>(block[at]) | std::to_integer<std::size_t>(block[at + 1])
                                                                             << 8;
    at += 2;
    if (!read_length(block, at, match) || offset == 0 || offset > out.size() ||
        match + kShortestMatch > bytes - out.size())
      return {};
    for (std::size_t i = 0; i < match + kShortestMatch; ++i)
      out.push_back(out[out.size() - offset]);  // may overlap what it copies
  }
  return out.size() == bytes ? out : std::vector<std::byte>{};
}

}  // namespace tidemark
