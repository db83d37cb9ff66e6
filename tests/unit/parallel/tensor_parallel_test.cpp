#include "parallel/tensor_parallel.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "nn/layers.h"
#include "ops/ops.h"
#include "tensor/engine.h"

namespace tidemark {
namespace {

/// An embedding, a norm and two matrices, as a model has them.
class TensorParallelTest : public testing::Test {
 protected:
  TensorParallelTest() {
    add_embedding(root_, "embed", 4096, 64);
    root_.add("norm", [](Module& m, Tensor x) { return mul(std::move(x), m("weight")); }).parameter("weight", {64});
    add_linear(root_, "up", 64, 256, true);
    add_linear(root_, "down", 256, 64, false);
    root_.to_device(run_);
  }

  std::int64_t live_bytes() { return run_.allocator().totals().allocated_bytes; }
  std::int64_t parameter_bytes() {
    std::int64_t bytes = 0;
    visit_parameters(root_, [&](const Module&, Parameter& parameter) { bytes += parameter.tensor.bytes(); });
    return bytes;
  }
  void split(std::int64_t devices, const std::vector<ParallelRule>& plan) {
    split_ = std::make_unique<TensorParallel>(run_, root_, Mesh{devices, 0}, plan, false);
  }
  Tensor forward() {
    const Tensor ids = empty(run_, {2, 32}, Dtype::int64);
    return root_["down"](root_["up"](root_["norm"](root_["embed"](ids))));
  }

  static inline const std::vector<ParallelRule> kPlan{{.pattern = "embed", .style = ParallelStyle::rowwise},
                                                      {.pattern = "up", .style = ParallelStyle::colwise},
                                                      {.pattern = "d*n", .style = ParallelStyle::rowwise}};
  tidemark::Run run_{RunConfig()};
  Module root_{""};
  std::unique_ptr<TensorParallel> split_;
};

TEST_F(TensorParallelTest, PartsOfAllDevicesAreTheWhole) {
  const std::int64_t whole = parameter_bytes();
  split(4, kPlan);
  std::int64_t of_all = 0;
  visit_parameters(root_, [&](const Module&, Parameter& parameter) {
    of_all += (parameter.tensor.impl().distributed ? 4 : 1) * parameter.tensor.bytes();
  });
  EXPECT_EQ(of_all, whole);
}

TEST_F(TensorParallelTest, OneDeviceHoldsTheWhole) {
  const std::int64_t whole = live_bytes();
  split(1, kPlan);
  EXPECT_EQ(live_bytes(), whole);
}

TEST_F(TensorParallelTest, WholeWeightsAreLetGoOf) {
  split(4, kPlan);
  std::int64_t rounded = 0;
  visit_parameters(root_, [&](const Module&, Parameter& parameter) {
    rounded += run_.allocator().block_bytes(parameter.tensor.impl().storage->id);
  });
  EXPECT_EQ(live_bytes(), rounded);
}

TEST_F(TensorParallelTest, TheModuleGivesWhatItGaveBefore) {
  const Tensor before = forward();
  split(4, kPlan);
  const Tensor after = forward();
  EXPECT_EQ(after.sizes(), before.sizes());
  EXPECT_TRUE(after.is_contiguous());
  split_->check_called();
}

TEST_F(TensorParallelTest, GradientsArePartsButThatOfTheEmbedding) {
  split(4, kPlan);
  const Tensor y = forward();
  backward(y, empty_like(y));
  EXPECT_EQ(root_["up"]("weight").grad().sizes(), (Dims{64, 64}));
  EXPECT_EQ(root_["down"]("weight").grad().sizes(), (Dims{64, 64}));
  EXPECT_EQ(root_["embed"]("weight").grad().sizes(), (Dims{4096, 64}));
  EXPECT_EQ(split_->placement_of(root_["embed"]("weight")), GradientPlacement::whole);
  EXPECT_EQ(split_->placement_of(root_["norm"]("weight")), GradientPlacement::plain);
}

TEST_F(TensorParallelTest, SequenceParallelModulesTrainAndSumUp) {
  root_["norm"].get("weight").tensor.impl().requires_grad = false;
  split(2, {{.pattern = "norm", .style = ParallelStyle::sequence}});
  EXPECT_TRUE(root_["norm"]("weight").requires_grad());
  EXPECT_EQ(split_->placement_of(root_["norm"]("weight")), GradientPlacement::sums);
}

TEST_F(TensorParallelTest, PatternsNameModules) {
  const auto named = [&](const std::string& pattern) {
    split(1, {{.pattern = pattern, .style = ParallelStyle::sequence}});
    std::string names;
    for (const std::unique_ptr<Module>& child : root_.children())
      if (child->hooks) names += std::string(child->name()) + " ";
    split_.reset();
    return names;
  };
  EXPECT_EQ(named("*"), "embed norm up down ");
  EXPECT_EQ(named("*o*"), "norm down ");
  EXPECT_EQ(named("?o*"), "norm down ");
  EXPECT_EQ(named("*m"), "norm ");
  EXPECT_EQ(named("u?"), "up ");
  for (const char* pattern : {"", "no", "up?", "up.*", "*a*a*a*a*a*a*a*a*a*", "[u]p"})
    EXPECT_THROW(named(pattern), Error);
}

TEST_F(TensorParallelTest, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(split(2, {{.pattern = "nothing"}}), Error);
  EXPECT_THROW(split(2, {{.pattern = "norm", .style = ParallelStyle::colwise}}), Error);
  EXPECT_THROW(split(3, {{.pattern = "up", .style = ParallelStyle::colwise}}), Error);
  root_["up"].hooks = nullptr;
  split(2, {{.pattern = "up", .style = ParallelStyle::colwise}});
  EXPECT_THROW(split_->check_called(), Error);
}

}  // namespace
}  // namespace tidemark
