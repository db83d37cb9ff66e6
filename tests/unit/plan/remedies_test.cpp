#include "plan/remedies.h"

#include <gtest/gtest.h>

#include "io/plan_text.h"

namespace tidemark::plan {
namespace {

std::vector<std::string> texts(const std::vector<Remedy>& remedies) {
  std::vector<std::string> all;
  for (const Remedy& one : remedies) all.push_back(io::change_text(one.change));
  return all;
}

using Bytes = std::optional<std::int64_t>;

/// Device bytes of a training that fits; nothing of one that does not.
Oracle oracle_of(const std::function<Bytes(const Spec&)>& fitting_bytes) {
  Oracle oracle;
  oracle.simulate = [fitting_bytes](const Spec& spec) {
    const Bytes bytes = fitting_bytes(spec);
    Seen seen{.fits = bytes.has_value()};
    seen.peak.device_bytes = bytes.value_or(0);
    return seen;
  };
  return oracle;
}

TEST(Remedies, BeginWithTheSmallestChange) {
  Spec spec;
  spec.batch = 8;
  const auto always = [](const Spec&) -> Bytes { return 1; };
  EXPECT_EQ(
      texts(remedies_of(spec, oracle_of(always))),
      (std::vector<std::string>{"--allocator expandable_segments:True", "--checkpointing non_reentrant", "--batch 4"}));
}

TEST(Remedies, CombineChangesThatAreNotEnoughAlone) {
  Spec spec;
  const auto both = [](const Spec& one) -> Bytes {
    if (one.allocator.empty() || one.checkpointing == Checkpointing::none) return std::nullopt;
    return 2;
  };
  const std::vector<Remedy> found = remedies_of(spec, oracle_of(both), 1);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].device_bytes, 2);
  EXPECT_EQ(texts(found)[0], "--checkpointing non_reentrant --allocator expandable_segments:True");
}

TEST(Remedies, HalveTheBatchUntilItFits) {
  Spec spec;
  spec.batch = 64;
  const auto small = [](const Spec& one) -> Bytes { return one.batch > 8 ? Bytes() : 3; };
  EXPECT_EQ(texts(remedies_of(spec, oracle_of(small), 1)), std::vector<std::string>{"--batch 8"});
}

TEST(Remedies, KeepFrozenPartsFrozen) {
  Spec spec;
  spec.freeze = {"vision_tower"};
  const auto adapted = [](const Spec& one) -> Bytes { return one.lora && !one.quantization ? Bytes(4) : Bytes(); };
  EXPECT_TRUE(remedies_of(spec, oracle_of(adapted)).empty());
}

TEST(Remedies, TryEachChangeOnce) {
  Spec spec;
  spec.batch = 4;
  spec.checkpointing = Checkpointing::non_reentrant;
  std::vector<Spec> asked;
  const auto never = [&](const Spec& one) -> Bytes {
    EXPECT_EQ(std::count(asked.begin(), asked.end(), one), 0);
    asked.push_back(one);
    return std::nullopt;
  };
  EXPECT_TRUE(remedies_of(spec, oracle_of(never)).empty());
  EXPECT_GT(asked.size(), 4u);
}

TEST(Remedies, AreNoneWhereNothingFits) {
  EXPECT_TRUE(remedies_of({}, oracle_of([](const Spec&) -> Bytes { return std::nullopt; })).empty());
}

}  // namespace
}  // namespace tidemark::plan
