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

TEST(Remedies, BeginWithTheSmallestChange) {
  Spec spec;
  spec.batch = 8;
  const auto always = [](const Spec&) -> Bytes { return 1; };
  EXPECT_EQ(texts(remedies_of(spec, always)), (std::vector<std::string>{"--allocator expandable_segments:True",
                                                                        "--checkpointing non_reentrant", "--batch 4"}));
}

TEST(Remedies, CombineChangesThatAreNotEnoughAlone) {
  Spec spec;
  const auto both = [](const Spec& one) -> Bytes {
    if (one.allocator.empty() || one.checkpointing == Checkpointing::none) return std::nullopt;
    return 2;
  };
  const std::vector<Remedy> found = remedies_of(spec, both, 1);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].device_bytes, 2);
  EXPECT_EQ(texts(found)[0], "--checkpointing non_reentrant --allocator expandable_segments:True");
}

TEST(Remedies, HalveTheBatchUntilItFits) {
  Spec spec;
  spec.batch = 64;
  const auto small = [](const Spec& one) -> Bytes { return one.batch > 8 ? Bytes() : 3; };
  EXPECT_EQ(texts(remedies_of(spec, small, 1)), std::vector<std::string>{"--batch 8"});
}

TEST(Remedies, KeepFrozenPartsFrozen) {
  Spec spec;
  spec.freeze = {"vision_tower"};
  const auto adapted = [](const Spec& one) -> Bytes { return one.lora && !one.quantization ? Bytes(4) : Bytes(); };
  EXPECT_TRUE(remedies_of(spec, adapted).empty());
}

TEST(Remedies, AreNoneWhereNothingFits) {
  EXPECT_TRUE(remedies_of({}, [](const Spec&) -> Bytes { return std::nullopt; }).empty());
}

}  // namespace
}  // namespace tidemark::plan
