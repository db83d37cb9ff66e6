#include "live_line.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace tidemark::cli {

LiveLine::~LiveLine() { clear(); }

void LiveLine::show(std::string text) {
  if (text == shown_) return;
  shown_ = std::move(text);
  fmt::print(stderr, "\r\x1b[K{}", shown_);
  std::fflush(stderr);
}

void LiveLine::clear() { show({}); }

}  // namespace tidemark::cli
