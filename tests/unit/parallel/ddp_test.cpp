#include "parallel/ddp.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tensor/engine.h"

namespace tidemark {
namespace {

/// Two matrices and what a step of them allocates.
class Ddp : public testing::Test {
 protected:
  static constexpr std::int64_t kBytes = 2 << 20;  // of one weight

  Ddp() {
    for (const char* name : {"first", "second"}) root_.add(name).parameter("weight", {1 << 19});
    root_.to_device(run_);
  }

  /// What stays after DistributedDataParallel(module), beside the model.
  std::int64_t buckets_of(const DdpOptions& options) {
    const std::int64_t before = live_bytes();
    hooks_ = ddp(run_, root_, options);
    return live_bytes() - before;
  }
  std::int64_t live_bytes() { return run_.allocator().totals().allocated_bytes; }

  tidemark::Run run_{RunConfig()};
  Module root_{""};
  StepHooks hooks_;
};

TEST_F(Ddp, KeepsACopyOfTheGradients) { EXPECT_EQ(buckets_of({.ranks = 4}), 2 * kBytes); }

TEST_F(Ddp, KeepsNoneOfFrozenParameters) {
  root_["first"].get("weight").tensor.impl().requires_grad = false;
  EXPECT_EQ(buckets_of({.ranks = 4}), kBytes);
}

TEST_F(Ddp, HoldsAsMuchWhateverTheNumberOfRanks) {
  const std::int64_t two = buckets_of({.ranks = 2});
  hooks_ = {};
  EXPECT_EQ(buckets_of({.ranks = 512}), two);
}

TEST_F(Ddp, GradientsMoveIntoTheBuckets) {
  buckets_of({.ranks = 2, .gradient_as_bucket_view = true});
  const Tensor& weight = root_["second"]("weight");
  const std::int64_t before = live_bytes();
  weight.grad() = empty_like(weight);
  hooks_.pass_begins(true);
  EXPECT_EQ(live_bytes(), before + kBytes);
  hooks_.gradient_is_ready(weight);
  EXPECT_EQ(live_bytes(), before);
}

TEST_F(Ddp, AGradientThatNeverComesIsAnError) {
  buckets_of({.ranks = 2});
  const Tensor& weight = root_["second"]("weight");
  weight.grad() = empty_like(weight);
  hooks_.pass_begins(true);
  hooks_.gradient_is_ready(weight);
  EXPECT_THROW(hooks_.before_forward(), Error);
}

TEST_F(Ddp, AGradientThatNeverComesIsLookedFor) {
  buckets_of({.ranks = 2, .find_unused_parameters = true});
  const Tensor& weight = root_["second"]("weight");
  weight.grad() = empty_like(weight);
  hooks_.pass_begins(true);
  hooks_.gradient_is_ready(weight);
  EXPECT_NO_THROW(hooks_.before_forward());
}

}  // namespace
}  // namespace tidemark
