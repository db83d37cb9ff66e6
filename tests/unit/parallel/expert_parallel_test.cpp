#include "parallel/expert_parallel.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tidemark {
namespace {

/// Two layers with eight experts each.
struct Sparse {
  Sparse() {
    for (const char* name : {"0", "1"}) {
      Module& layer = root.add(name);
      layer.add("gate").parameter("weight", {8, 1024});
      layer.add("experts").parameter("gate_up_proj", {8, 1024, 1024}).parameter("down_proj", {8, 1024, 512});
    }
  }
  std::int64_t loaded_bytes() {
    root.to_device(run);
    return run.allocator().totals().allocated_bytes;
  }
  tidemark::Run run{RunConfig()};
  Module root{""};
};

std::int64_t loaded_bytes(std::int64_t degree) {
  Sparse model;
  const auto hooks = shard_experts(model.root, degree);
  return model.loaded_bytes();
}

TEST(ExpertParallel, EveryRanksExpertsTogetherAreAll) {
  Sparse model;
  const std::int64_t all = model.loaded_bytes();
  const std::int64_t routers = 2 * 8 * 1024 * 4;
  for (const std::int64_t degree : {1, 2, 4, 8})
    EXPECT_EQ(degree * (loaded_bytes(degree) - routers), all - routers) << degree;
}

TEST(ExpertParallel, ExpertsThatDoNotDivideAreAnError) {
  Sparse model;
  try {
    shard_experts(model.root, 3);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_value);
    EXPECT_EQ(error.where(), "ep.degree");
  }
}

TEST(ExpertParallel, AModelWithoutExpertsIsAnError) {
  Module root{""};
  root.add("mlp").parameter("weight", {8, 8});
  try {
    shard_experts(root, 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::unsupported);
  }
}

TEST(ExpertParallel, TheOptimizerHasAGroupForExperts) {
  Sparse model;
  const auto hooks = shard_experts(model.root, 2);
  model.loaded_bytes();
  const StepHooks step = expert_parallel(model.run, model.root, 2);
  ASSERT_EQ(step.optimizer_parameters.size(), 6);
  EXPECT_EQ(step.group_sizes, (std::vector<std::size_t>{4, 2}));
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(step.optimizer_parameters[i].dims(), i < 4 ? 3 : 2);
}

}  // namespace
}  // namespace tidemark
