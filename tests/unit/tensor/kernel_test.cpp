// Checkpoints that keep what operators give, on tensors of one block each.
#include "tensor/kernel.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "ops/in_place.h"
#include "ops/ops.h"
#include "tensor/engine.h"

#include "support/block_sizes.h"

namespace tidemark {
namespace {

struct KeptResult : testing::Test {
  tidemark::Run run{RunConfig()};
  Tensor w = [this] {
    Tensor tensor = empty(run, {8}, Dtype::f32);
    tensor.impl().requires_grad = true;
    return tensor;
  }();
  CheckpointOptions keeping(const char* name) {
    return {.layer = 0, .save = std::make_shared<const std::vector<std::string>>(1, name)};
  }
  std::int64_t live_blocks() { return run.allocator().totals().allocated_bytes / kSmallestBlock; }
  std::size_t allocations() { return run.ledger().size(); }
};

TEST_F(KeptResult, StaysUntilTheBlockRunsAgain) {
  const Tensor y = checkpoint(run, [w = w] { return sigmoid(silu(w)); }, keeping("silu"))[0];
  EXPECT_EQ(live_blocks(), 3);  // w, y, and what silu gave
  const std::size_t before = allocations();
  backward(y);
  EXPECT_EQ(allocations() - before, 4u);  // the gradient of y, sigmoid again, and two gradients
  EXPECT_EQ(live_blocks(), 3);            // w, its gradient, y
}

/// The outer silu has saved its input when the block ends: its own result is never handed out, and goes with the block.
TEST_F(KeptResult, OfAnOperatorThatIsNotReachedGoesWithTheBlock) {
  Tensor y = checkpoint(run, [w = w] { return silu(silu(w)); }, keeping("silu"))[0];
  EXPECT_EQ(live_blocks(), 3);  // the outer one's result is y
  const std::size_t before = allocations();
  backward(y);
  EXPECT_EQ(allocations() - before, 3u);
  y.reset();
  EXPECT_EQ(live_blocks(), 2);
}

TEST_F(KeptResult, OfAnotherOperatorRunsAgain) {
  const Tensor y = checkpoint(run, [w = w] { return sigmoid(silu(w)); }, keeping("mm"))[0];
  EXPECT_EQ(live_blocks(), 2);
  EXPECT_EQ(run.kernels, (std::vector<std::string_view>{"silu"}));
  const std::size_t before = allocations();
  backward(y);
  EXPECT_EQ(allocations() - before, 5u);
}

TEST_F(KeptResult, ThatIsWrittenOverIsRefusedAsTorchDoes) {
  const auto block = [w = w] { return sigmoid(scale_(silu(w))); };
  const Tensor y = checkpoint(run, block, keeping("silu"))[0];
  EXPECT_THROW(backward(y), Error);
}

TEST_F(KeptResult, IsNotCountedAsDoneAgain) {
  Work kept, all;
  run.work = &all;
  backward(checkpoint(run, [w = w] { return sigmoid(silu(w)); }, {.layer = 3, .save = {}})[0]);
  run.work = &kept;
  backward(checkpoint(run, [w = w] { return sigmoid(silu(w)); }, keeping("silu"))[0]);
  run.work = nullptr;
  constexpr double kBytes = 8 * 4;
  EXPECT_EQ(all.again[3].all.written_bytes, 2 * kBytes);
  EXPECT_EQ(all.again[3].operators["silu"].result_bytes, kBytes);
  EXPECT_EQ(kept.again[0].all.written_bytes, kBytes);
}

}  // namespace
}  // namespace tidemark
