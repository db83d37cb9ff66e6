// Who waits for a plan is told how far it is.
#include "plan/progress.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "plan/search.h"

namespace tidemark::plan {
namespace {

/// A hundred families of three passes; the larger their number, the slower, and the less they take.
struct Hundred {
  Space space;
  static constexpr std::int64_t kFamilies = 100, kPasses = 3;

  Hundred() {
    for (std::int64_t family = 0; family < kFamilies; ++family) {
      space.bases.emplace_back().seq = family;
      auto& members = space.families.emplace_back();
      for (std::int64_t pass = 1; pass <= kPasses; ++pass) {
        members.push_back(space.candidates.size());
        space.candidates.push_back(
            {.batch = pass, .number = space.candidates.size(), .family = static_cast<std::size_t>(family)});
      }
    }
  }

  Outcome searched(Goal goal, std::int64_t card_bytes, const Told& told) const {
    const auto bytes = [](const Spec& spec) { return 1000 - 5 * spec.seq + spec.batch; };
    Oracle oracle;
    oracle.simulate = [=](const Spec& spec) {
      Seen seen;
      seen.peak.device_bytes = bytes(spec);
      seen.fits = bytes(spec) <= card_bytes;
      return seen;
    };
    oracle.time = [](const Spec& spec) {
      const double seconds = static_cast<double>(1 + spec.seq) / static_cast<double>(spec.batch);
      return StepTime{seconds, seconds, seconds};
    };
    return search(space, goal, oracle, 2, told);
  }
};

std::vector<Progress> told_of(Goal goal, std::int64_t card_bytes) {
  std::vector<Progress> all;
  Hundred().searched(goal, card_bytes, [&](const Progress& now) { all.push_back(now); });
  return all;
}

TEST(PlanProgress, NeverFallsAndEndsWithAllDecided) {
  for (const Goal goal : {Goal::fastest, Goal::least_memory, Goal::smallest_change, Goal::pareto}) {
    const std::vector<Progress> all = told_of(goal, 800);
    ASSERT_GT(all.size(), 3U);
    EXPECT_EQ(all.front().decided, 0U);
    EXPECT_FALSE(all.front().step_seconds);
    for (std::size_t i = 1; i < all.size(); ++i) {
      EXPECT_GE(all[i].decided, all[i - 1].decided);
      EXPECT_GE(all[i].simulated, all[i - 1].simulated);
      EXPECT_EQ(all[i].candidates, 300U);
      EXPECT_EQ(all[i].stage, Stage::search);
    }
    EXPECT_EQ(all.back().decided, 300U);
    EXPECT_TRUE(all.back().step_seconds && all.back().peak_device_bytes);
  }
}

TEST(PlanProgress, SaysTheBestSoFarWhichIsTheAnswerAtTheEnd) {
  Progress last;
  double best = 1e9;
  const Outcome found = Hundred().searched(Goal::fastest, 800, [&](const Progress& now) {
    if (now.step_seconds) {
      EXPECT_LE(*now.step_seconds, best);
      best = *now.step_seconds;
    }
    last = now;
  });
  EXPECT_EQ(last.step_seconds, found.answers.front().time.seconds);
  EXPECT_EQ(last.peak_device_bytes, found.answers.front().seen.peak.device_bytes);
  EXPECT_EQ(last.simulated, found.simulated);
}

TEST(PlanProgress, ChangesNothingOfTheAnswer) {
  const Hundred all;
  const Outcome alone = all.searched(Goal::fastest, 800, {}),
                heard = all.searched(Goal::fastest, 800, [](const Progress&) {});
  ASSERT_EQ(alone.answers.size(), heard.answers.size());
  for (std::size_t i = 0; i < alone.answers.size(); ++i)
    EXPECT_EQ(alone.answers[i].candidate, heard.answers[i].candidate);
  EXPECT_EQ(alone.simulated, heard.simulated);
}

TEST(PlanProgress, HasNothingBestWhereNothingFits) {
  const Progress last = told_of(Goal::fastest, 10).back();
  EXPECT_EQ(last.decided, last.candidates);
  EXPECT_FALSE(last.step_seconds);
}

TEST(PlanProgress, WhoIsToldMayEndIt) {
  int times = 0;
  EXPECT_THROW(Hundred().searched(Goal::fastest, 800,
                                  [&](const Progress&) {
                                    if (++times == 5) throw std::runtime_error("enough");
                                  }),
               std::runtime_error);
}

TEST(PlanProgress, IsToldOnceInAWhileButTheFirstAndTheLastOfEachStage) {
  std::vector<std::pair<Stage, std::size_t>> told;
  const Told rarely = told_each(3600, [&](const Progress& now) { told.emplace_back(now.stage, now.decided); });
  for (const Stage stage : {Stage::order, Stage::largest})
    for (std::size_t decided = 0; decided <= 4; ++decided)
      rarely({.stage = stage, .decided = decided, .candidates = 4});
  EXPECT_EQ(told, (std::vector<std::pair<Stage, std::size_t>>{
                      {Stage::order, 0}, {Stage::order, 4}, {Stage::largest, 0}, {Stage::largest, 4}}));
}

}  // namespace
}  // namespace tidemark::plan
