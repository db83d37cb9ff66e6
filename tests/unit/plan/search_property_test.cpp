// The best-first search against looking at everything, on random spaces.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <tuple>
#include <vector>

#include "plan/search.h"

namespace tidemark::plan {
namespace {

/// Families of configurations whose memory grows with the size of a pass, and which take some time.
struct Made {
  Space space;
  std::vector<Seen> truth;
  std::vector<double> seconds;
};

Made made(std::int64_t card_bytes) {
  Made made;
  const int families = *rc::gen::inRange(1, 12);
  for (int family = 0; family < families; ++family) {
    const int passes = *rc::gen::inRange(1, 7);
    std::int64_t bytes = *rc::gen::inRange(1, 120);
    const bool is_refused = *rc::gen::inRange(0, 8) == 0;
    auto& numbers = made.space.families.emplace_back();
    for (int pass = 0; pass < passes; ++pass) {
      const std::size_t number = made.space.candidates.size();
      numbers.push_back(number);
      Spec spec;
      spec.seq = static_cast<std::int64_t>(number);
      spec.batch = pass + 1;
      made.space.candidates.push_back({.spec = spec, .changes = *rc::gen::inRange<std::int64_t>(0, 5), .family = static_cast<std::size_t>(family)});
      Seen seen;
      seen.peak.device_bytes = bytes;
      seen.fits = bytes <= card_bytes && !is_refused;
      if (is_refused) seen.refusal = "not known";
      made.truth.push_back(seen);
      made.seconds.push_back(*rc::gen::inRange(1, 30));
      bytes += *rc::gen::inRange(0, 40);
    }
  }
  return made;
}

Oracle oracle_of(const Made& made) {
  return {.simulate = [&made](const Spec& spec) { return made.truth[static_cast<std::size_t>(spec.seq)]; },
          .begin =
              [&made](const Spec& spec) {
                const Seen& whole = made.truth[static_cast<std::size_t>(spec.seq)];
                const bool shows = spec.seq % 3 != 0;  // whether what does not fit shows in how it begins
                return shows ? whole : Seen{.fits = true};
              },
          .confirm = {},
          .time =
              [&made](const Spec& spec) {
                const double seconds = made.seconds[static_cast<std::size_t>(spec.seq)];
                return StepTime{seconds, seconds, seconds};
              }};
}

using Rank = std::tuple<double, double, double, std::size_t>;

Rank rank(const Made& made, std::size_t one, Goal goal) {
  const Seen& seen = made.truth[one];
  const auto bytes = static_cast<double>(seen.peak.device_bytes);
  const auto changes = static_cast<double>(made.space.candidates[one].changes);
  if (goal == Goal::least_memory) return {bytes, made.seconds[one], changes, one};
  if (goal == Goal::smallest_change) return {changes, made.seconds[one], bytes, one};
  return {made.seconds[one], changes, bytes, one};
}

std::vector<std::size_t> ranked(const Made& made, Goal goal) {
  std::vector<std::size_t> fitting;
  for (std::size_t one = 0; one < made.truth.size(); ++one)
    if (made.truth[one].fits) fitting.push_back(one);
  std::sort(fitting.begin(), fitting.end(),
            [&](std::size_t a, std::size_t b) { return rank(made, a, goal) < rank(made, b, goal); });
  return fitting;
}

RC_GTEST_PROP(PlanSearch, FindsWhatLookingAtEverythingFinds, ()) {
  const Made all = made(100);
  const Goal goal = *rc::gen::element(Goal::fastest, Goal::least_memory, Goal::smallest_change);
  const auto wanted = *rc::gen::inRange<std::size_t>(1, 5);
  const Outcome found = search(all.space, goal, oracle_of(all), wanted);
  std::vector<std::size_t> expected = ranked(all, goal);
  if (expected.size() > wanted) expected.resize(wanted);
  RC_ASSERT(found.answers.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) RC_ASSERT(found.answers[i].candidate == expected[i]);
  RC_ASSERT(found.simulated <= static_cast<std::int64_t>(all.truth.size()));
}

RC_GTEST_PROP(PlanSearch, FindsTheWholeFront, ()) {
  const Made all = made(100);
  const Outcome found = search(all.space, Goal::pareto, oracle_of(all));
  std::vector<std::pair<double, std::int64_t>> points, expected;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const std::size_t one : ranked(all, Goal::fastest)) {
    const Seen& seen = all.truth[one];
    bool is_best_of_its_time = true;
    for (std::size_t other = 0; other < all.truth.size(); ++other)
      if (all.truth[other].fits && all.seconds[other] == all.seconds[one] &&
          all.truth[other].peak.device_bytes < seen.peak.device_bytes)
        is_best_of_its_time = false;
    if (seen.peak.device_bytes >= least || !is_best_of_its_time) continue;
    least = seen.peak.device_bytes;
    expected.emplace_back(all.seconds[one], least);
  }
  for (const Found& one : found.answers) points.emplace_back(one.time.seconds, one.seen.peak.device_bytes);
  RC_ASSERT(points == expected);
}

RC_GTEST_PROP(PlanSearch, LooksAtNothingTwice, ()) {
  const Made all = made(100);
  std::vector<std::atomic<int>> looks(all.truth.size());
  Oracle oracle = oracle_of(all);
  oracle.simulate = [&, of = oracle.simulate](const Spec& spec) {
    ++looks[static_cast<std::size_t>(spec.seq)];
    return of(spec);
  };
  const Outcome found = search(all.space, Goal::fastest, oracle);
  for (const auto& count : looks) RC_ASSERT(count <= 1);
}

}  // namespace
}  // namespace tidemark::plan
