// The largest configurations that fit, by as few trials as possible.  What a trial is, the caller knows.
//
// Assumed: memory grows with each name, that is, where a configuration does not fit none fits that is larger in every
// name, and where it fits all smaller ones do.  Trials that tell otherwise are reported, and "does not fit" is
// believed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "plan/growth.h"

namespace tidemark::vary {

struct Outcome {
  bool fits = false;
  std::int64_t needed_bytes = 0;
  bool is_whole = true;  // false: it ran out of memory, and would have needed this at least
};

struct Tried {
  Point point;
  Outcome outcome;
};

/// `smaller` does not fit and `larger` does, or it needs more than `larger`.
struct Contradiction {
  Tried smaller, larger;
};

struct Question {
  std::vector<std::vector<double>> sizes;  // for each name, a number for each value, for guesses alone
  std::int64_t capacity_bytes = 0;
  std::size_t at_once = 1;  // trials that one call may ask for
};

struct Found {
  /// Those that fit and none of whose values can be raised, in the order of their points; each was tried, and so was,
  /// for each that is next to one, it or a smaller one that does not fit.  Empty: nothing fits.
  std::vector<Point> largest;
  std::vector<Tried> tried;  // in the order of the trials
  std::vector<Contradiction> contradictions;
};

/// Tries up to Question::at_once configurations, none of which was tried before; the outcomes are in the same order.
using TryValues = std::function<std::vector<Outcome>(const std::vector<Point>&)>;

Found find_largest(const Question& question, const TryValues& try_values);

/// What find_largest never exceeds with one name of `values` values.
std::size_t most_trials(std::size_t values, std::size_t at_once);

}  // namespace tidemark::vary
