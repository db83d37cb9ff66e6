#include "parallel/fsdp1.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tidemark {
namespace {

/// Two layers of 4 MiB each and a head of 2 MiB.
class Fsdp1 : public testing::Test {
 protected:
  static constexpr std::int64_t kMiB = 1 << 20;

  Fsdp1() {
    Module& layers = root_.add("layers");
    for (const char* name : {"0", "1"}) layers.add(name).parameter("weight", {1 << 10, 1 << 10});
    root_.add("head").parameter("weight", {1 << 9, 1 << 10});
    root_.to_device(run_);
  }

  std::int64_t live_bytes() { return run_.allocator().totals().allocated_bytes; }
  void begin_forward() {
    Batch inputs;
    hooks_.replace_inputs(inputs);
  }
  /// layer(x), as far as its hooks see it.
  void forward(std::size_t layer) {
    Tensor x = empty(run_, Dims{1}, Dtype::f32);
    const Call call(root_["layers"][layer], x);
    call.returns(x);
  }

  tidemark::Run run_{RunConfig()};
  Module root_{""};
  StepHooks hooks_;
};

TEST_F(Fsdp1, KeepsOnePartOfAllParameters) {
  hooks_ = fsdp1(run_, root_, {.ranks = 8});
  EXPECT_EQ(live_bytes(), 10 * kMiB / 8);
}

TEST_F(Fsdp1, GathersALayerForItsForwardAlone) {
  hooks_ = fsdp1(run_, root_, {.ranks = 8});
  begin_forward();
  for (const std::size_t layer : {0, 1}) {
    forward(layer);
    EXPECT_EQ(live_bytes(), 10 * kMiB / 8 + 2 * kMiB);  // the root's
  }
}

TEST_F(Fsdp1, KeepsWhatIsNotResharded) {
  hooks_ = fsdp1(run_, root_, {.ranks = 8, .reshard_after_forward = false, .param_dtype = Dtype::bf16});
  begin_forward();
  for (const std::size_t layer : {0, 1}) forward(layer);
  EXPECT_EQ(live_bytes(), 10 * kMiB / 8 + 10 * kMiB / 2);
}

/// Two small tensors behind one another, 16 bytes apart, and five ranks.
TEST(Fsdp1Shards, OfAllRanksAreTheWhole) {
  std::int64_t elements = 0;
  for (std::int64_t rank = 0; rank < 5; ++rank) {
    tidemark::Run run{RunConfig()};
    Module root{""};
    root.add("first").parameter("weight", {7});
    root.add("second").parameter("weight", {13});
    root.to_device(run);
    const StepHooks hooks = fsdp1(run, root, {.ranks = 5, .rank = rank});
    ASSERT_EQ(hooks.optimizer_parameters.size(), 2u);
    for (const Tensor& shard : hooks.optimizer_parameters) elements += shard.elements();
  }
  EXPECT_EQ(elements, 7 + 13);
}

TEST(Fsdp1Shards, AreOfOneType) {
  tidemark::Run run{RunConfig()};
  Module root{""};
  root.add("first").parameter("weight", {8});
  root.add("second").parameter("weight", {8}).get("weight").dtype = Dtype::bf16;
  root.to_device(run);
  EXPECT_THROW(fsdp1(run, root, {.ranks = 2}), Error);
}

}  // namespace
}  // namespace tidemark
