#include "parallel/zero3.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "parallel/zero3_parameters.h"

#include "support/block_sizes.h"

namespace tidemark {
namespace {

constexpr std::int64_t kBucket = 256;  // elements

/// A few parameters, of which one belongs to the root.
class Zero3 : public testing::Test {
 protected:
  void add(const std::vector<std::int64_t>& sizes) {
    root_.dtype = Dtype::bf16;
    for (std::size_t i = 0; i < sizes.size(); ++i) root_.add(std::to_string(i)).parameter("weight", {sizes[i]});
    root_.to_device(run_);
  }

  /// What stays after deepspeed.initialize(), but for what does not depend on the parameters.
  std::int64_t persistent_bytes(std::int64_t ranks) {
    hooks_ = zero3(run_, root_, {trainable_parameters(root_)}, {.ranks = ranks, .reduce_bucket_size = kBucket});
    return run_.allocator().totals().allocated_bytes - kBucket * 2 - 2 * kSmallestBlock;  // inf_or_nan_tracker, barrier
  }

  tidemark::Run run_{RunConfig()};
  Module root_{""};
  StepHooks hooks_;
};

class Zero3Parts : public testing::TestWithParam<std::int64_t> {};

TEST_P(Zero3Parts, OfAllRanksAreTheWholeAndItsPadding) {
  const std::int64_t ranks = GetParam();
  for (const std::int64_t elements : {1, 2, 7, 64, 127, 4096, 99991}) {
    tidemark::Run run{RunConfig()};
    Module root{""};
    root.parameter("weight", {elements});
    root.to_device(run);
    ParameterStore store(run, {.ranks = ranks});
    store.convert(root);
    const std::int64_t padding = store.all()[0]->part_elements * ranks - elements;
    EXPECT_GE(padding, 0);
    EXPECT_LT(padding, ranks);  // InsertPostInitMethodToModuleSubClasses._padding_size
    root.hooks = nullptr;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Zero3Parts, testing::Values(1, 2, 3, 8, 64, 1000));

class Zero3Ranks : public Zero3, public testing::WithParamInterface<std::int64_t> {};

/// bf16 parts, an fp32 master copy, bf16 gradients: 8 bytes for each element of this rank.
TEST_P(Zero3Ranks, HoldOneNth) {
  add({1 << 20, 1 << 16, 1 << 14});
  EXPECT_EQ(persistent_bytes(GetParam()), 8 * ((1 << 20) + (1 << 16) + (1 << 14)) / GetParam());
}

INSTANTIATE_TEST_SUITE_P(Ranks, Zero3Ranks, testing::Values(1, 2, 4, 8, 16));

TEST_F(Zero3, GathersWhatIsAskedForInAForwardPass) {
  add({1 << 16});
  persistent_bytes(4);
  hooks_.before_forward();
  const std::int64_t before = run_.allocator().totals().allocated_bytes;
  root_["0"]("weight");
  EXPECT_EQ(run_.allocator().totals().allocated_bytes - before, 2 << 16);
}

TEST_F(Zero3, RefusesAParameterThatIsNotThere) {
  add({1 << 16});
  persistent_bytes(4);
  EXPECT_THROW(root_["0"]("weight"), InternalError);
}

}  // namespace
}  // namespace tidemark
