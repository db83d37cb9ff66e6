#include "assumptions.h"

#include <cstdint>
#include <map>
#include <mutex>

#include "../stand_in.h"
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

void note(const std::string& what, std::uint32_t line) {
  const std::lock_guard lock(all().mutex);
  ++all().counts[{what, line}];
}

}  // namespace

void assume(const std::string& what) { note(what, python_line()); }
void assume_everywhere(const std::string& what) { note(what, 0); }

/// All of them as lines "count \t what \t where \n".
std::string assumptions_text() {
  const std::lock_guard lock(all().mutex);
  std::string text;
  if (const long asked = tidemark_times_asked())
    text += std::to_string(asked) +
            "\ttimes measured on the device: 1 ms each, so autotuning takes the first configuration\t" + line_text(0) +
            "\n";
  if (const long taken = tidemark_taken_as_equal())
    text += std::to_string(taken) + "\twhole numbers from other ranks: what this rank contributed itself\t" +
            line_text(0) + "\n";
  for (const auto& [key, count] : all().counts)
    text += std::to_string(count) + "\t" + key.first + "\t" + line_text(key.second) + "\n";
  return text;
}

}  // namespace tidemark

extern "C" const char* tidemark_assumptions() {  // for python/tidemark (ctypes)
  static thread_local std::string text;
  text = tidemark::assumptions_text();
  return text.c_str();
}
