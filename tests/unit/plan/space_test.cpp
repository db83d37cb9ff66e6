#include "plan/space.h"

#include <gmock/gmock.h>

#include <set>

#include "base/error.h"
#include "io/spec_json.h"
#include "plan/share.h"

namespace tidemark::plan {
namespace {

Spec spec_of_llama() {
  Spec spec;
  spec.batch = 8;
  spec.seq = 2048;
  return spec;
}

std::vector<Spec> specs_of(const Space& space) {
  std::vector<Spec> specs;
  for (std::size_t one = 0; one < space.candidates.size(); ++one) specs.push_back(space.spec(one));
  return specs;
}

Bounds bounds(std::int64_t gpus, std::int64_t samples) {
  return {.gpus = gpus, .gpus_per_node = gpus, .samples_per_step = samples, .values = {}};
}

TEST(PlanSpace, EveryCandidateTakesAllSamplesOfAStep) {
  for (const std::int64_t gpus : {1, 2, 8})
    for (const Spec& one : specs_of(make_space(spec_of_llama(), bounds(gpus, 64), {})))
      EXPECT_EQ(one.batch * one.grad_accumulation * data_parallel_ranks(one), 64);
}

TEST(PlanSpace, EveryCandidateCanBeReadAgain) {
  for (const Spec& one : specs_of(make_space(spec_of_llama(), bounds(2, 16), {}))) {
    Spec again;
    read_fields(write_fields(one), again);
    EXPECT_NO_THROW(check_spec(again));
    EXPECT_TRUE(write_fields(again) == write_fields(one));
  }
}

TEST(PlanSpace, NoTwoCandidatesAreTheSame) {
  std::set<std::string> seen;
  for (const Spec& one : specs_of(make_space(spec_of_llama(), bounds(4, 16), {})))
    ASSERT_TRUE(seen.insert(io::write_spec_json(one)).second);
}

TEST(PlanShare, PartsAreWholeFamiliesAndTogetherTheSpace) {
  const Space whole = make_space(spec_of_llama(), bounds(4, 16), {});
  std::set<std::size_t> numbers;
  std::size_t families = 0;
  for (std::int64_t part = 0; part < 7; ++part) {
    Share share;
    share.part = part, share.of = 7;
    const Space mine = shared(whole, share);
    families += mine.families.size();
    for (const auto& family : mine.families)
      for (const std::size_t one : family)
        EXPECT_EQ(whole.candidates[mine.candidates[one].number].family % 7, static_cast<std::size_t>(part));
    std::size_t place = 0;
    for (const Candidate& one : mine.candidates) {
      EXPECT_TRUE(numbers.insert(one.number).second);
      EXPECT_TRUE(whole.spec(one.number) == mine.spec(place++));
    }
  }
  EXPECT_EQ(numbers.size(), whole.candidates.size());
  EXPECT_EQ(families, whole.families.size());
}

TEST(PlanShare, NamedCandidatesAlone) {
  const Space whole = make_space(spec_of_llama(), bounds(4, 16), {});
  Share share;
  share.numbers = {3, 0, 12}, share.candidates = 100;
  const Space mine = shared(whole, share);
  ASSERT_EQ(mine.candidates.size(), 3U);
  EXPECT_EQ(mine.candidates[1].number, 3U);
  share.of = 1'000'000, share.part = 999'999, share.candidates = 0;
  EXPECT_TRUE(shared(whole, share).candidates.empty());
}

TEST(PlanSpace, WhatIsAskedAboutComesFirstAndHasNoChanges) {
  const Space space = make_space(spec_of_llama(), bounds(1, 8), {});
  EXPECT_EQ(space.candidates.front().changes, 0);
  EXPECT_EQ(space.spec(0).batch, 8);
}

TEST(PlanSpace, FamiliesBeginWithTheSmallestPass) {
  const Space space = make_space(spec_of_llama(), bounds(8, 64), {});
  for (const auto& family : space.families)
    for (std::size_t i = 1; i < family.size(); ++i)
      EXPECT_LE(space.samples_per_pass(family[i - 1]), space.samples_per_pass(family[i]));
}

TEST(PlanSpace, HasEveryStrategyOfEightGpus) {
  std::set<Parallel> found;
  bool tp = false, pp = false, cp = false, offload = false;
  for (const Spec& one : specs_of(make_space(spec_of_llama(), bounds(8, 64), {}))) {
    found.insert(one.parallel);
    tp |= one.tp.has_value();
    pp |= one.pp.has_value();
    cp |= one.cp.has_value();
    offload |= one.zero && one.zero->offload_param == Offload::cpu;
  }
  using enum Parallel;
  EXPECT_THAT(found, testing::IsSupersetOf({none, ddp, zero1, zero2, zero3, fsdp1, fsdp2, ep}));
  EXPECT_TRUE(tp && pp && cp && offload);
}

TEST(PlanSpace, WhatIsFixedStays) {
  Spec spec = spec_of_llama();
  spec.checkpointing = Checkpointing::reentrant;
  for (const Spec& one :
       specs_of(make_space(spec, bounds(1, 8), {.fixed = {"checkpointing", "micro_batch"}, .allowed = {}}))) {
    EXPECT_EQ(one.checkpointing, Checkpointing::reentrant);
    EXPECT_EQ(one.batch, 8);
  }
}

TEST(PlanSpace, WhatChangesTheTrainingIsThereWhereItIsAllowed) {
  Bounds one = bounds(1, 8);
  for (const Spec& candidate : specs_of(make_space(spec_of_llama(), one, {}))) {
    EXPECT_FALSE(candidate.lora);
    EXPECT_EQ(candidate.optimizer, OptimizerName::adamw);
  }
  one.values["lora"] = {"4", "32"};
  std::set<std::int64_t> ranks;
  for (const Spec& candidate : specs_of(make_space(spec_of_llama(), one, {.fixed = {}, .allowed = {"lora"}})))
    if (candidate.lora) ranks.insert(candidate.lora->r);
  EXPECT_THAT(ranks, testing::ElementsAre(4, 32));
}

TEST(PlanSpace, QuantizationBringsAdapters) {
  const Freedom freedom{.fixed = {}, .allowed = {"quantization"}};
  bool is_there = false;
  for (const Spec& candidate : specs_of(make_space(spec_of_llama(), bounds(2, 8), freedom))) {
    if (!candidate.quantization) continue;
    is_there = true;
    ASSERT_TRUE(candidate.lora);
    EXPECT_EQ(std::get<std::string>(candidate.lora->target_modules), "all-linear");
    EXPECT_TRUE(candidate.quantization->use_double_quant);
    EXPECT_EQ(candidate.parallel, Parallel::ddp);  // the only way of two GPUs that it is known with
  }
  EXPECT_TRUE(is_there);
}

void refused(const Bounds& bounds, const Freedom& freedom, const char* says) {
  try {
    make_space(spec_of_llama(), bounds, freedom);
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.message() + " " + error.hint(), testing::HasSubstr(says));
  }
}

TEST(PlanSpace, RefusesWhatCannotBe) {
  refused(bounds(1, 8), {.fixed = {"checkpointin"}, .allowed = {}}, "did you mean checkpointing?");
  refused(bounds(1, 8), {.fixed = {}, .allowed = {"rank"}}, "there is no decision");
  refused(bounds(1, 8), {.fixed = {"lora"}, .allowed = {"lora"}}, "is allowed, too");
  refused(bounds(8, 64), {.fixed = {"data_parallel", "tensor_parallel", "pipeline"}, .allowed = {}},
          "data_parallel cannot stay as it is on 8 GPUs");
  Bounds wrong = bounds(1, 8);
  wrong.values["optimizer"] = {"adamx"};
  refused(wrong, {.fixed = {}, .allowed = {"optimizer"}}, "adamx");
  wrong.values["quantization"] = {"int4"};
  refused(wrong, {.fixed = {}, .allowed = {"quantization"}}, "int4");
}

}  // namespace
}  // namespace tidemark::plan
