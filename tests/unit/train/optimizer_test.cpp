#include "train/optimizer.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tidemark {
namespace {

struct Optimizers : testing::Test {
  tidemark::Run run{RunConfig()};
  Tensor parameter(Dtype dtype, bool with_grad = true) {
    Tensor tensor = empty(run, {8}, dtype);
    tensor.impl().requires_grad = true;
    if (with_grad) tensor.grad() = empty_like(tensor);
    return tensor;
  }
};

TEST_F(Optimizers, TakeEachTypeByItselfTheLastFirst) {
  const Optimizer optimizer =
      adamw({parameter(Dtype::bf16), parameter(Dtype::f32), parameter(Dtype::bf16), parameter(Dtype::f32, false)}, {});
  EXPECT_EQ(grouped(optimizer), (std::vector<Chosen>{{1}, {0, 2}}));
}

TEST_F(Optimizers, PassOverParametersWithoutGradient) {
  Optimizer optimizer = adamw({parameter(Dtype::f32, false), parameter(Dtype::f32)}, {});
  optimizer.step(optimizer);
  EXPECT_TRUE(optimizer.state[0].empty());
  EXPECT_EQ(optimizer.state[1].size(), 2u);
}

TEST_F(Optimizers, KeepTheStateOfTheFirstStep) {
  for (const OptimizerMaker make : {adam, adamw, sgd, adafactor, rmsprop, adagrad, adamw_8bit, paged_adamw_8bit,
                                    paged_adamw_32bit, lion_8bit, paged_lion_32bit, transformers_adafactor}) {
    Optimizer optimizer = make({parameter(Dtype::f32)}, {.momentum = 0.9});
    optimizer.step(optimizer);
    const std::int64_t live = run.allocator().totals().allocated_bytes;
    optimizer.step(optimizer);
    EXPECT_EQ(run.allocator().totals().allocated_bytes, live);
  }
}

TEST_F(Optimizers, RefuseAKernelThatTorchDoesNotHave) {
  for (const OptimizerMaker make : {adafactor, rmsprop, adagrad, adamw_8bit, lion_32bit, transformers_adafactor})
    EXPECT_THROW(make({parameter(Dtype::f32)}, {.loop = OptimizerLoop::fused}), Error);
}

TEST_F(Optimizers, ZeroGradFreesOrFills) {
  Optimizer optimizer = sgd({parameter(Dtype::f32)}, {});
  zero_grad(optimizer, false);
  EXPECT_TRUE(optimizer.parameters[0].grad());
  zero_grad(optimizer, true);
  EXPECT_FALSE(optimizer.parameters[0].grad());
}

}  // namespace
}  // namespace tidemark
