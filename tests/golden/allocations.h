// A recorded training step as its allocations, to be held against a predicted one.
#pragma once
#include "recorded_step.h"

namespace tidemark {

/// An allocation, and what was freed since the one before: in Python and C++ the order of such frees is no one's.
struct Allocation {
  std::int64_t bytes = 0;
  std::vector<std::int64_t> freed;
  std::string text;  // with operation and module, where they are known
  bool operator==(const Allocation& other) const { return bytes == other.bytes && freed == other.freed; }
  std::string told() const { return fmt::format("freed [{}], then {}", fmt::join(freed, " "), text); }
};

class Allocations {
 public:
  void add(std::string_view line) {
    const std::int64_t bytes = std::stoll(std::string(line.substr(0, line.find(' '))));
    if (bytes < 0) return freed_.push_back(bytes);
    std::sort(freed_.begin(), freed_.end());
    list.push_back({bytes, std::move(freed_), std::string(line)});
    freed_.clear();
  }
  std::vector<Allocation> list;

 private:
  std::vector<std::int64_t> freed_;
};

struct Recorded {
  Value header;
  Allocations events;
};

inline Recorded read_recorded(const Recordings& recordings, const RecordedCase& one) {
  RecordedStepText text = read_recorded_step(recordings, one);
  Recorded recorded{std::move(text.header), {}};
  for (std::string line; std::getline(text.lines, line);) recorded.events.add(line);
  return recorded;
}

}  // namespace tidemark
