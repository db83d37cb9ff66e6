#include "io/events_text.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/number.h"
#include "base/value.h"

namespace tidemark::io {
namespace {

constexpr std::int64_t kMaxAllocationBytes = 1LL << 50;  // of one allocation: beyond any machine

// Takes the word before the next space.
std::string_view next_word(std::string_view& line) {
  const std::size_t space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
  return word;
}

MemoryEvent read_line(std::string_view line, const std::string& where, std::int64_t number) {
  const auto refuse = [&] {
    throw Error(Errc::bad_file, fmt::format("expected \"+bytes operation module\", found {}", Value(line).quoted()),
                fmt::format("{}: line {}", where, number));
  };
  MemoryEvent event;
  std::string_view rest = line;
  const std::string_view size = next_word(rest);
  if (size.size() < 2 || (size[0] != '+' && size[0] != '-') || size[1] == '-') refuse();
  event.is_free = size[0] == '-';
  const auto bytes = parse_number<std::int64_t>(size.substr(1));
  if (!bytes || *bytes > kMaxAllocationBytes) refuse();
  event.bytes = *bytes;
  event.operation = next_word(rest);
  event.module = rest;  // whatever is left: an operation is one word, a module's name may hold more
  if (event.operation.empty()) event.operation = "-";
  if (event.module.empty()) event.module = "-";
  return event;
}

}  // namespace

std::vector<MemoryEvent> read_events(std::string_view text, const std::string& where) {
  std::vector<MemoryEvent> events;
  std::int64_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) events.push_back(read_line(line, where, number));
  }
  return events;
}

std::string event_line(const MemoryEvent& event) {
  return fmt::format("{}{} {} {}", event.is_free ? '-' : '+', event.bytes, event.operation, event.module);
}

}  // namespace tidemark::io
