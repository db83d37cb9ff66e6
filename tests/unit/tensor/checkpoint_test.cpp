#include "tensor/checkpoint.h"

#include <gtest/gtest.h>

#include "ops/ops.h"
#include "tensor/engine.h"
#include "tensor/second_forward.h"

#include "support/block_sizes.h"

namespace tidemark {
namespace {

struct Checkpoint : testing::Test {
  tidemark::Run run{RunConfig()};
  Tensor w = parameter();
  Tensor parameter() {
    Tensor tensor = empty(run, {8}, Dtype::f32);
    tensor.impl().requires_grad = true;
    return tensor;
  }
  std::int64_t live_blocks() { return run.allocator().totals().allocated_bytes / kSmallestBlock; }
  std::size_t allocations() { return run.ledger().size(); }
};

TEST_F(Checkpoint, KeepsTheArgumentAlone) {
  const Tensor y = checkpoint(run, [w = w] { return silu(silu(silu(w))); })[0];
  EXPECT_EQ(live_blocks(), 2);  // w, y
}

TEST_F(Checkpoint, DoesNotRunTheLastOperationAgain) {
  const Tensor y = checkpoint(run, [w = w] { return silu(silu(w)); })[0];
  const std::size_t before = allocations();
  backward(y);
  // The gradient of y, the inner silu again, and the gradients of both: the outer silu has saved its input when it
  // ends.
  EXPECT_EQ(allocations() - before, 4u);
}

TEST_F(Checkpoint, RunsAnOperationAgainThatSavesItsResult) {
  const Tensor y = checkpoint(run, [w = w] { return sigmoid(silu(w)); })[0];
  const std::size_t before = allocations();
  backward(y);
  EXPECT_EQ(allocations() - before, 5u);
}

TEST_F(Checkpoint, ReentrantRunsAllAgain) {
  const Tensor y = checkpoint_reentrant(run, [](Tensor x) { return silu(silu(std::move(x))); }, w)[0];
  EXPECT_EQ(live_blocks(), 2);
  const std::size_t before = allocations();
  backward(y);
  EXPECT_EQ(allocations() - before, 5u);
  EXPECT_TRUE(w.grad());
}

TEST_F(Checkpoint, ReentrantBehindNothingThatTrainsGivesNoGradient) {
  const Tensor x = empty(run, {8}, Dtype::f32);
  const Tensor y = checkpoint_reentrant(run, [w = w](Tensor t) { return mul(std::move(t), w); }, x)[0];
  EXPECT_FALSE(y.requires_grad());
}

TEST_F(Checkpoint, AResultWithoutGradientGetsZeros) {
  const auto both = [](Tensor x) {
    Tensor first = silu(std::move(x));
    Tensor second = silu(first);
    return Tensors{std::move(second), std::move(first)};
  };
  const Tensors y = checkpoint_reentrant(run, both, w);
  EXPECT_TRUE(y[0].requires_grad());
  EXPECT_TRUE(y[1].requires_grad());
  const std::size_t before = allocations();
  backward(Tensors{y[0]}, Tensors{empty_like(y[0])});
  // the root's gradient; zeros; two results; two gradients; their sum with the zeros, which are not to be written over
  EXPECT_EQ(allocations() - before, 7u);
  EXPECT_TRUE(w.grad());
}

TEST_F(Checkpoint, AParameterOfTheInnerAndTheOuterPass) {
  const Tensor x = parameter();
  Tensor y = checkpoint_reentrant(run, [w = w](Tensor t) { return mul(std::move(t), w); }, x)[0];
  y = mul(add(std::move(y), w), w);  // the outer pass waits for three gradients of w's, the inner one for one
  backward(y);
  EXPECT_TRUE(x.grad());
  EXPECT_TRUE(w.grad());
  y.reset();
  EXPECT_EQ(live_blocks(), 4);  // x, w and their gradients
}

TEST_F(Checkpoint, LetsGoOfItsArguments) {
  Tensor y = checkpoint(run, [w = w, x = empty(run, {8}, Dtype::f32)] { return mul(silu(w), x); })[0];
  EXPECT_EQ(live_blocks(), 3);
  backward(y);
  y.reset();
  EXPECT_EQ(live_blocks(), 2);  // w and its gradient
}

/// The history and the ledger of a run, as integers.
std::vector<std::int64_t> record_of(const tidemark::Run& run) {
  std::vector<std::int64_t> all;
  for (const std::int32_t event : run.history()) all.push_back(event);
  for (const LedgerEntry& entry : run.ledger()) {
    for (const std::int64_t number : {entry.bytes, std::int64_t{entry.born}, std::int64_t{entry.died}})
      all.push_back(number);
    all.push_back(entry.module);
    all.push_back(static_cast<std::int64_t>(entry.category));
    for (const char letter : std::string_view(entry.op)) all.push_back(letter);
  }
  return all;
}

using Block = Tensors (*)(const Tensor& x, const Tensor& w);

/// Four blocks, one behind the other; every one in its own module.
void train(tidemark::Run& run, Block block, bool repeat, std::initializer_list<std::int64_t> widths) {
  if (repeat) repeat_second_forwards(run);
  std::vector<Tensor> weights;
  for (const std::int64_t width : widths) {
    weights.push_back(empty(run, {width}, Dtype::f32));
    weights.back().impl().requires_grad = true;
  }
  Tensor x = empty(run, {8, 1024}, Dtype::f32);
  x.impl().requires_grad = true;
  for (const Tensor& w : weights) {
    const Setting<std::uint32_t> module(run.module, run.name_module("block"));
    x = checkpoint(run, [=] { return block(x, w); })[0];
  }
  backward(x);
}

Tensors gated(const Tensor& x, const Tensor& w) {
  const Tensor y = silu(x);
  const Tensor z = mul(y, w);
  return {mul(sigmoid(z), y)};
}

TEST_F(Checkpoint, EqualBlocksRunAgainAsTheFirstOfThem) {
  const auto all = [&](bool repeat, std::initializer_list<std::int64_t> widths) {
    tidemark::Run one{RunConfig()};
    train(one, gated, repeat, widths);
    return std::pair(record_of(one), one.next_sequence);
  };
  for (const auto widths : {std::initializer_list<std::int64_t>{1024, 1024, 1024, 1024}, {1024, 1, 1, 1024}}) {
    const auto [expected, nodes] = all(false, widths);
    const auto [repeated, fewer_nodes] = all(true, widths);
    EXPECT_EQ(repeated, expected);
    EXPECT_LT(fewer_nodes, nodes);
  }
}

TEST_F(Checkpoint, ABlockThatLeavesMoreBehindRunsAgainItself) {
  const Block leaves = [](const Tensor& x, const Tensor& weight) {
    weight.grad() = empty(weight.run(), weight.sizes(), Dtype::f32);  // each time in place of the last
    return gated(x, weight);
  };
  const auto all = [&](bool repeat) {
    tidemark::Run one{RunConfig()};
    train(one, leaves, repeat, {1024, 1024, 1024});
    return std::pair(record_of(one), one.next_sequence);
  };
  EXPECT_EQ(all(true), all(false));
}

}  // namespace
}  // namespace tidemark
