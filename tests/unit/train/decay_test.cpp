#include "train/decay.h"

#include <gtest/gtest.h>

#include "nn/layers.h"

namespace tidemark {
namespace {

TEST(Decay, WeightsThatDecayStandInTheFirstGroup) {
  tidemark::Run run{RunConfig()};
  Module root;
  add_linear(root, "norm_proj", 4, 4, true);  // a name that only begins like a norm
  Module& norm = root.add("ln_1").parameter("weight", {4}).parameter("bias", {4});
  norm.is_layer_norm = true;  // by its class
  add_linear(root, "input_layernorm", 4, 4, false);
  add_linear(root, "q_norm", 4, 4, false);
  add_linear(root, "Norm", 4, 4, false);
  add_linear(root, "normal", 4, 4, false);
  root.to_device(run);
  StepHooks hooks;
  group_by_decay(root, hooks);
  EXPECT_EQ(hooks.group_sizes, (std::vector<std::size_t>{2, 6}));
  EXPECT_EQ(&hooks.optimizer_parameters[0].impl(), &root["norm_proj"]("weight").impl());
  EXPECT_EQ(&hooks.optimizer_parameters[1].impl(), &root["normal"]("weight").impl());
}

TEST(Decay, AGroupWithoutWeightsIsNone) {
  tidemark::Run run{RunConfig()};
  Module root;
  add_linear(root, "q_proj", 4, 4, false);
  root.to_device(run);
  EXPECT_EQ(decay_groups(root).size(), 1U);
}

}  // namespace
}  // namespace tidemark
