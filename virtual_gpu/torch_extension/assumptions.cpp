#include "assumptions.h"

#include <cstdint>
#include <map>
#include <mutex>

#include "python_frames.h"

namespace tidemark {
namespace {

struct Assumptions {
  std::mutex mutex;
  std::map<std::pair<std::string, std::uint32_t>, long> counts;
};

Assumptions& all() {
  static auto* the = new Assumptions;
  return *the;
}

}  // namespace

void assume(const std::string& what) {
  const std::uint32_t line = python_line();
  const std::lock_guard lock(all().mutex);
  ++all().counts[{what, line}];
}

std::string assumptions_text() {
  const std::lock_guard lock(all().mutex);
  std::string text;
  for (const auto& [key, count] : all().counts)
    text += std::to_string(count) + "\t" + key.first + "\t" + line_text(key.second) + "\n";
  return text;
}

}  // namespace tidemark
