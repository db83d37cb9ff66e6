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

  std::size_t number_of(const Spec& spec) const {
    return space.families[static_cast<std::size_t>(spec.seq)][static_cast<std::size_t>(spec.batch - 1)];
  }
};

/// What families of one kin have in common: bytes of weights, of a pass by its size, and what an allocator needs
/// besides.
struct Common {
  std::vector<std::int64_t> loading, passes, answers;

  Common() {
    for (int i = 0; i < 3; ++i) loading.push_back(*rc::gen::inRange(1, 130));
    for (int i = 0; i < 6; ++i) passes.push_back(*rc::gen::inRange(0, 60));
    answers = {0, *rc::gen::inRange(0, 30)};
  }

  /// Of a kin whose optimizer takes `optimizer_bytes` in its step.
  Seen seen(const Kin& kin, std::int64_t size, std::int64_t optimizer_bytes, std::int64_t card_bytes) const {
    const std::int64_t loaded = loading[kin.loading], passed = loaded + passes[kin.passes] * size,
                       lost = answers[kin.answers];
    Seen seen;
    seen.peak.device_bytes = std::max(passed, loaded + optimizer_bytes) + lost;
    seen.fits = seen.peak.device_bytes <= card_bytes;
    if (seen.fits || passed + lost <= card_bytes) return seen;
    seen.ran_out_in = loaded + lost > card_bytes ? Moment::loading : Moment::passes;
    seen.no_settings_help = (seen.ran_out_in == Moment::loading ? loaded : passed) > card_bytes;
    return seen;
  }
};

Made made(std::int64_t card_bytes) {
  Made made;
  const Common common;
  const int families = *rc::gen::inRange(1, 24);
  for (int family = 0; family < families; ++family) {
    const int passes = *rc::gen::inRange(1, 7);
    const std::int64_t optimizer_bytes = *rc::gen::inRange(0, 60);
    const bool is_refused = *rc::gen::inRange(0, 8) == 0;
    const auto pass = *rc::gen::inRange<std::size_t>(0, 6);
    const Kin kin{.loading = pass % 3, .passes = pass, .answers = *rc::gen::inRange<std::size_t>(0, 2)};
    made.space.kin.push_back(kin);
    auto& numbers = made.space.families.emplace_back();
    made.space.bases.emplace_back().seq = family;
    for (int size = 1; size <= passes; ++size) {
      const std::size_t number = made.space.candidates.size();
      numbers.push_back(number);
      made.space.candidates.push_back({.batch = size,
                                       .changes = *rc::gen::inRange<std::int64_t>(0, 5),
                                       .number = number,
                                       .family = static_cast<std::size_t>(family)});
      Seen seen = common.seen(kin, size, optimizer_bytes, card_bytes);
      if (is_refused) {
        seen = {.peak = seen.peak};
        seen.refusal = "not known";
      }
      made.truth.push_back(seen);
      made.seconds.push_back(*rc::gen::inRange(1, 30));
    }
  }
  return made;
}

Oracle oracle_of(const Made& made) {
  return {.simulate = [&made](const Spec& spec) { return made.truth[made.number_of(spec)]; },
          .begin =
              [&made](const Spec& spec) {
                const Seen& whole = made.truth[made.number_of(spec)];
                const bool shows = spec.seq % 3 != 0;  // whether what does not fit shows in how it begins
                return shows ? whole : Seen{.fits = true};
              },
          .confirm = {},
          .tell = {},
          .time =
              [&made](const Spec& spec) {
                const double seconds = made.seconds[made.number_of(spec)];
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

/// Families that differ in the optimizer's implementation and in the allocator's settings alone.
TEST(PlanSearch, WhatRunsOutBeforeAnythingDiffersIsSeenOnce) {
  Made all;
  for (std::size_t family = 0; family < 12; ++family) {
    all.space.families.push_back({family});
    all.space.bases.emplace_back().seq = static_cast<std::int64_t>(family);
    all.space.kin.push_back({.loading = family / 6, .passes = family / 6, .answers = family % 2});
    all.space.candidates.push_back({.changes = 0, .number = family, .family = family});
    all.truth.push_back({.peak = {.device_bytes = 200}});
    all.truth.back().ran_out_in = Moment::passes;
    all.truth.back().no_settings_help = family < 6;
    all.seconds.push_back(1);
  }
  Oracle oracle = oracle_of(all);
  oracle.begin = {};
  EXPECT_EQ(search(all.space, Goal::fastest, oracle).simulated, 1 + 2);  // of the second six one for each setting
  EXPECT_EQ(search(all.space, Goal::fastest, oracle, 12).refused.size(), 12U);
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
    ++looks[all.number_of(spec)];
    return of(spec);
  };
  const Outcome found = search(all.space, Goal::fastest, oracle);
  for (const auto& count : looks) RC_ASSERT(count <= 1);
}

}  // namespace
}  // namespace tidemark::plan
