#include "plan/space.h"

#include <gmock/gmock.h>

#include <set>

#include "base/error.h"
#include "io/spec_json.h"
#include "plan/share.h"

namespace tidemark::plan {
namespace {

Spec llama() {
  Spec spec;
  spec.batch = 8;
  spec.seq = 2048;
  return spec;
}

Bounds bounds(std::int64_t gpus, std::int64_t samples) {
  return {.gpus = gpus, .gpus_per_node = gpus, .samples_per_step = samples, .values = {}};
}

TEST(PlanSpace, EveryCandidateTakesAllSamplesOfAStep) {
  for (const std::int64_t gpus : {1, 2, 8})
    for (const Candidate& one : make_space(llama(), bounds(gpus, 64), {}).candidates)
      EXPECT_EQ(one.spec.batch * one.spec.grad_accumulation * data_parallel_ranks(one.spec), 64);
}

TEST(PlanSpace, EveryCandidateCanBeReadAgain) {
  for (const Candidate& one : make_space(llama(), bounds(2, 16), {}).candidates) {
    Spec again;
    read_fields(write_fields(one.spec), again);
    EXPECT_NO_THROW(check_spec(again));
    EXPECT_TRUE(write_fields(again) == write_fields(one.spec));
  }
}

TEST(PlanSpace, NoTwoCandidatesAreTheSame) {
  std::set<std::string> seen;
  for (const Candidate& one : make_space(llama(), bounds(4, 16), {}).candidates)
    ASSERT_TRUE(seen.insert(io::write_spec_json(one.spec)).second);
}

TEST(PlanShare, PartsAreWholeFamiliesAndTogetherTheSpace) {
  const Space whole = make_space(llama(), bounds(4, 16), {});
  std::set<std::size_t> numbers;
  std::size_t families = 0;
  for (std::int64_t part = 0; part < 7; ++part) {
    Share share;
    share.part = part, share.of = 7;
    const Space mine = shared(whole, share);
    families += mine.families.size();
    for (const auto& family : mine.families)
      for (const std::size_t one : family) EXPECT_EQ(whole.candidates[mine.candidates[one].number].family % 7, static_cast<std::size_t>(part));
    for (const Candidate& one : mine.candidates) {
      EXPECT_TRUE(numbers.insert(one.number).second);
      EXPECT_TRUE(whole.candidates[one.number].spec == one.spec);
    }
  }
  EXPECT_EQ(numbers.size(), whole.candidates.size());
  EXPECT_EQ(families, whole.families.size());
}

TEST(PlanShare, NamedCandidatesAlone) {
  const Space whole = make_space(llama(), bounds(4, 16), {});
  Share share;
  share.numbers = {3, 0, 12}, share.candidates = 100;
  const Space mine = shared(whole, share);
  ASSERT_EQ(mine.candidates.size(), 3U);
  EXPECT_EQ(mine.candidates[1].number, 3U);
  share.of = 1'000'000, share.part = 999'999, share.candidates = 0;
  EXPECT_TRUE(shared(whole, share).candidates.empty());
}

TEST(PlanSpace, WhatIsAskedAboutComesFirstAndHasNoChanges) {
  const Space space = make_space(llama(), bounds(1, 8), {});
  EXPECT_EQ(space.candidates.front().changes, 0);
  EXPECT_EQ(space.candidates.front().spec.batch, 8);
}

TEST(PlanSpace, FamiliesBeginWithTheSmallestPass) {
  const Space space = make_space(llama(), bounds(8, 64), {});
  for (const auto& family : space.families)
    for (std::size_t i = 1; i < family.size(); ++i)
      EXPECT_LE(samples_per_pass(space.candidates[family[i - 1]].spec),
                samples_per_pass(space.candidates[family[i]].spec));
}

TEST(PlanSpace, HasEveryStrategyOfEightGpus) {
  std::set<Parallel> found;
  bool tp = false, pp = false, cp = false, offload = false;
  for (const Candidate& one : make_space(llama(), bounds(8, 64), {}).candidates) {
    found.insert(one.spec.parallel);
    tp |= one.spec.tp.has_value();
    pp |= one.spec.pp.has_value();
    cp |= one.spec.cp.has_value();
    offload |= one.spec.zero && one.spec.zero->offload_param == Offload::cpu;
  }
  using enum Parallel;
  EXPECT_THAT(found, testing::IsSupersetOf({none, ddp, zero1, zero2, zero3, fsdp1, fsdp2, ep}));
  EXPECT_TRUE(tp && pp && cp && offload);
}

TEST(PlanSpace, WhatIsFixedStays) {
  Spec spec = llama();
  spec.checkpointing = Checkpointing::reentrant;
  for (const Candidate& one :
       make_space(spec, bounds(1, 8), {.fixed = {"checkpointing", "micro_batch"}, .allowed = {}}).candidates) {
    EXPECT_EQ(one.spec.checkpointing, Checkpointing::reentrant);
    EXPECT_EQ(one.spec.batch, 8);
  }
}

TEST(PlanSpace, WhatChangesTheTrainingIsThereWhereItIsAllowed) {
  Bounds one = bounds(1, 8);
  for (const Candidate& candidate : make_space(llama(), one, {}).candidates) {
    EXPECT_FALSE(candidate.spec.lora);
    EXPECT_EQ(candidate.spec.optimizer, OptimizerName::adamw);
  }
  one.values["lora"] = {"4", "32"};
  std::set<std::int64_t> ranks;
  for (const Candidate& candidate : make_space(llama(), one, {.fixed = {}, .allowed = {"lora"}}).candidates)
    if (candidate.spec.lora) ranks.insert(candidate.spec.lora->r);
  EXPECT_THAT(ranks, testing::ElementsAre(4, 32));
}

TEST(PlanSpace, QuantizationBringsAdapters) {
  const Freedom freedom{.fixed = {}, .allowed = {"quantization"}};
  bool is_there = false;
  for (const Candidate& candidate : make_space(llama(), bounds(2, 8), freedom).candidates) {
    if (!candidate.spec.quantization) continue;
    is_there = true;
    ASSERT_TRUE(candidate.spec.lora);
    EXPECT_EQ(std::get<std::string>(candidate.spec.lora->target_modules), "all-linear");
    EXPECT_TRUE(candidate.spec.quantization->use_double_quant);
    EXPECT_EQ(candidate.spec.parallel, Parallel::ddp);  // the only way of two GPUs that it is known with
  }
  EXPECT_TRUE(is_there);
}

void refused(const Bounds& bounds, const Freedom& freedom, const char* says) {
  try {
    make_space(llama(), bounds, freedom);
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
