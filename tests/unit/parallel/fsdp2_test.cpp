#include "parallel/fsdp2.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "parallel/fsdp2_param.h"
#include "tensor/engine.h"

namespace tidemark {
namespace {

// 5 rows over 4 ranks, in chunks of 2:  |0 1|2 3|4 .|. .|
TEST(ShardRows, AreThoseOfTorchChunk) {
  constexpr std::int64_t kOwn[] = {2, 2, 1, 0};
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(shard_rows(5, 4, rank).padded, 2);
    EXPECT_EQ(shard_rows(5, 4, rank).own, kOwn[rank]);
  }
}

/// How much one kernel copies at once depends on the card.
RunConfig on_a_card() {
  RunConfig config;
  config.card.multiprocessors = 132;
  config.card.max_threads_per_multiprocessor = 2048;
  return config;
}

/// Two layers of 4 MiB each and a head of 2 MiB.
class Fsdp2 : public testing::Test {
 protected:
  static constexpr std::int64_t kMiB = 1 << 20;

  Fsdp2() {
    Module& layers = root_.add("layers");
    for (const char* name : {"0", "1"}) layers.add(name).parameter("weight", {1 << 10, 1 << 10});
    root_.add("head").parameter("weight", {1 << 9, 1 << 10});
    root_.to_device(run_);
  }

  std::int64_t live_bytes() { return run_.allocator().totals().allocated_bytes; }
  Module& layer(std::size_t i) { return root_["layers"][i]; }
  /// layer(x), as far as its hooks see it.
  void forward(Module& module) {
    Tensor x = empty(run_, Dims{1}, Dtype::f32);
    const Call call(module, x);
    call.returns(x);
  }

  tidemark::Run run_{on_a_card()};
  Module root_{""};
  StepHooks hooks_;
};

TEST_F(Fsdp2, KeepsOnePartOfAllParameters) {
  EXPECT_EQ(live_bytes(), 10 * kMiB);
  hooks_ = fsdp2(run_, root_, {.ranks = 8});
  EXPECT_EQ(live_bytes(), 10 * kMiB / 8);
}

TEST_F(Fsdp2, KeepsAllOfThemOnOneGpu) {
  hooks_ = fsdp2(run_, root_, {.ranks = 1});
  EXPECT_EQ(live_bytes(), 10 * kMiB);
}

TEST_F(Fsdp2, GathersALayerForItsForwardAlone) {
  hooks_ = fsdp2(run_, root_, {.ranks = 8});
  Batch inputs;
  hooks_.replace_inputs(inputs);
  const std::int64_t before = live_bytes();
  // What was gathered for the root lives until the next group has been copied out of.
  EXPECT_EQ(before, 10 * kMiB / 8 + 2 * 2 * kMiB);
  forward(layer(0));
  EXPECT_EQ(live_bytes(), 10 * kMiB / 8 + 2 * kMiB + 4 * kMiB);  // the root's, and the buffer that was copied out of
  forward(layer(1));
  EXPECT_EQ(live_bytes(), 10 * kMiB / 8 + 2 * kMiB + 4 * kMiB);
}

TEST_F(Fsdp2, KeepsWhatIsNotResharded) {
  hooks_ = fsdp2(run_, root_, {.ranks = 8, .reshard_after_forward = 0});
  Batch inputs;
  hooks_.replace_inputs(inputs);
  forward(layer(0));
  forward(layer(1));
  EXPECT_EQ(live_bytes(), 10 * kMiB / 8 + 10 * kMiB + 4 * kMiB);
}

TEST_F(Fsdp2, SharesAfterTheForwardAmongFewer) {
  hooks_ = fsdp2(run_, root_, {.ranks = 8, .reshard_after_forward = 2});
  Batch inputs;
  hooks_.replace_inputs(inputs);
  forward(layer(0));
  EXPECT_EQ(live_bytes(), 10 * kMiB / 8 + 2 * kMiB + 4 * kMiB + 4 * kMiB / 2);
}

TEST_F(Fsdp2, GathersInAnotherType) {
  hooks_ = fsdp2(run_, root_, {.ranks = 8, .reshard_after_forward = 0, .param_dtype = Dtype::bf16});
  Batch inputs;
  hooks_.replace_inputs(inputs);
  forward(layer(0));
  EXPECT_EQ(layer(0)("weight").dtype(), Dtype::bf16);
  EXPECT_EQ(live_bytes(), 10 * kMiB / 8 + kMiB + 2 * kMiB + 2 * kMiB);
}

TEST_F(Fsdp2, TrainsShards) {
  root_["head"].get("weight").tensor.impl().requires_grad = false;
  hooks_ = fsdp2(run_, root_, {.ranks = 3, .rank = 2});
  ASSERT_EQ(hooks_.optimizer_parameters.size(), 2u);
  EXPECT_EQ(hooks_.optimizer_parameters[0].sizes(), (Dims{1024 - 2 * 342, 1024}));
}

TEST_F(Fsdp2, RefusesTypesThatTorchRefusesInAGroup) {
  layer(0).add("more").parameter("weight", {4, 4});
  layer(0)["more"].get("weight").dtype = Dtype::bf16;
  layer(0)["more"].to_device(run_);
  EXPECT_THROW(fsdp2(run_, root_, {.ranks = 2}), Error);
}

}  // namespace
}  // namespace tidemark
