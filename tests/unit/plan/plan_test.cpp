// Plans of real predictions against looking at everything.
#include "plan/plan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "estimate/asked.h"
#include "plan/largest.h"

namespace tidemark::plan {
namespace {

Spec llama() {
  Spec spec;
  spec.model = Value::Map{{"model_type", "llama"},  {"hidden_size", 256},       {"intermediate_size", 512},
                          {"num_hidden_layers", 4}, {"num_attention_heads", 4}, {"num_key_value_heads", 4},
                          {"vocab_size", 4096}};
  spec.batch = 8;
  spec.seq = 64;
  return spec;
}

Engine engine_of(std::int64_t total_bytes) {
  Card card = card_with_room();
  card.total_bytes = total_bytes;
  card.bf16_flops = 989'400'000'000'000;
  card.fp32_flops = 66'908'160'000'000;
  card.memory_bandwidth_bytes_per_s = 3'352'320'000'000;
  card.link = {"nvlink", 450'000'000'000};
  return {.model_config = llama().model, .card = card, .programs = shipped_programs(llama()), .keep_margin = {}};
}

Question question(std::int64_t gpus) {
  Question asked{.spec = llama(),
                 .bounds = {.gpus = gpus, .gpus_per_node = gpus, .samples_per_step = 8 * gpus, .values = {}},
                 .freedom = {},
                 .answers = 1};
  asked.spec.gpus = gpus;
  asked.spec.gpus_per_node = gpus;
  asked.freedom.fixed = {"attention", "allocator", "optimizer_impl", "bucket_view", "load"};
  return asked;
}

struct Best {
  std::size_t fitting = 0;
  std::tuple<double, double, double, std::size_t> rank;
};

/// Every candidate, on all of its ranks, once for all goals.
std::map<Goal, Best> of_everything(const Question& asked, const Engine& engine) {
  const Space space = make_space(asked.spec, asked.bounds, asked.freedom);
  const Oracle oracle = make_oracle(engine);
  std::map<Goal, Best> best{{Goal::fastest, {}}, {Goal::least_memory, {}}, {Goal::smallest_change, {}}};
  for (std::size_t one = 0; one < space.candidates.size(); ++one) {
    const Spec spec = space.spec(one);
    Seen seen = oracle.simulate(spec);
    if (seen.fits) seen = oracle.confirm(spec);
    if (!seen.fits) continue;
    const auto bytes = static_cast<double>(seen.peak.device_bytes),
               changes = static_cast<double>(space.candidates[one].changes);
    const double seconds = oracle.time(spec).seconds;
    for (auto& [goal, of_goal] : best) {
      const auto rank = goal == Goal::least_memory      ? std::tuple(bytes, seconds, changes, one)
                        : goal == Goal::smallest_change ? std::tuple(changes, seconds, bytes, one)
                                                        : std::tuple(seconds, changes, bytes, one);
      if (of_goal.fitting++ == 0 || rank < of_goal.rank) of_goal.rank = rank;
    }
  }
  return best;
}

void expect_the_best(const Question& asked, Goal goal, const Engine& engine, const Best& best) {
  const Plan plan = make_plan(asked, goal, engine);
  ASSERT_EQ(plan.answers.empty(), best.fitting == 0);
  if (plan.answers.empty()) {
    ASSERT_TRUE(plan.least);
    EXPECT_GT(plan.least->seen.peak.device_bytes, engine.card.total_bytes);
    return;
  }
  const Planned& answer = plan.answers.front();
  EXPECT_TRUE(answer.seen.fits);
  const double first = goal == Goal::least_memory      ? static_cast<double>(answer.seen.peak.device_bytes)
                       : goal == Goal::smallest_change ? std::get<0>(best.rank)
                                                       : answer.time.seconds;
  EXPECT_EQ(first, std::get<0>(best.rank));
  EXPECT_LE(plan.simulated, static_cast<std::int64_t>(plan.candidates));
}

class PlanOfRealPredictions : public testing::TestWithParam<std::int64_t> {};

TEST_P(PlanOfRealPredictions, IsTheBestOfEverything) {
  const Engine engine = engine_of(std::int64_t{720} << 20);
  const Question asked = question(GetParam());
  for (const auto& [goal, best] : of_everything(asked, engine)) {
    SCOPED_TRACE(static_cast<int>(goal));
    expect_the_best(asked, goal, engine, best);
  }
}

/// With what is fixed above: that is where one simulation tells of many.
TEST(PlanOfRealPredictions, IsTheBestOfEverythingThatIsFree) {
  Question asked = question(1);
  asked.freedom.fixed.clear();
  for (const std::int64_t mebibytes : {690, 720}) {
    const Engine engine = engine_of(mebibytes << 20);
    const Best best = of_everything(asked, engine).at(Goal::fastest);
    const Plan plan = make_plan(asked, Goal::fastest, engine);
    ASSERT_EQ(plan.answers.empty(), best.fitting == 0) << mebibytes;
    if (best.fitting > 0) {
      EXPECT_EQ(plan.answers.front().number, std::get<3>(best.rank)) << mebibytes;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, PlanOfRealPredictions, testing::Values(1, 2));

TEST(PlanOfRealPredictions, ReadsItsOwnChanges) {
  const Question asked = question(2);
  for (const Planned& answer : make_plan(asked, Goal::fastest, engine_of(std::int64_t{1} << 32)).answers) {
    Value keys = merged(write_fields(asked.spec), answer.change);
    Spec again;
    read_fields(keys, again);
    EXPECT_TRUE(write_fields(again) == write_fields(answer.spec));
  }
}

TEST(Largest, FitsAndTheNextDoesNot) {
  const Engine engine = engine_of(std::int64_t{900} << 20);
  const Oracle oracle = make_oracle(engine);
  for (const Size size : {Size::batch, Size::seq}) {
    const LargestPlan found = largest(question(1), size, engine);
    ASSERT_GT(found.value, 0);
    EXPECT_EQ(found.refused, found.value + 1);
    EXPECT_TRUE(found.plan.answers.front().seen.fits);
    Question next = question(1);
    (size == Size::batch ? next.spec.batch : next.spec.seq) = found.refused;
    if (size == Size::batch) next.bounds.samples_per_step = 0;
    const Space larger = make_space(next.spec, next.bounds, next.freedom);
    for (std::size_t one = 0; one < larger.candidates.size(); ++one)
      EXPECT_FALSE(oracle.simulate(larger.spec(one)).fits);
  }
}

TEST(KindsOfRanks, AreAllWhereTheyAreFew) {
  Spec spec = question(8).spec;
  spec.parallel = Parallel::fsdp2;
  EXPECT_EQ(kinds_of_ranks(spec).size(), 8U);
  spec.gpus = 1024;
  spec.pp = PipelineSpec{};
  spec.pp->degree = 4;
  const std::vector<std::int64_t> kinds = kinds_of_ranks(spec);
  for (const std::int64_t stage : {0, 256, 512, 768}) EXPECT_THAT(kinds, testing::Contains(stage));
  EXPECT_LE(kinds.size(), 32U);
}

TEST(PlanWithoutAnswers, IsUndecidedWhereHalfWasNotSimulated) {
  Plan plan;
  plan.candidates = 10;
  plan.refusals = {{"no program", 3}, {"no such module", 1}};
  EXPECT_FALSE(is_undecided(plan));
  plan.refusals["no program"] = 4;
  EXPECT_TRUE(is_undecided(plan));
  plan.answers.emplace_back();
  EXPECT_FALSE(is_undecided(plan));
}

}  // namespace
}  // namespace tidemark::plan
