#include "nn/lora.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "nn/layers.h"

namespace tidemark {
namespace {

struct Lora : testing::Test {
  tidemark::Run run{RunConfig()};
  Module root;

  void SetUp() override {
    root.dtype = Dtype::bf16;
    add_embedding(root, "embed_tokens", 64, 8);
    Module& layer = root.add("layers").add("0");
    add_linear(layer, "q_proj", 8, 16, false);
    add_linear(layer, "k_proj", 8, 4, true);
    add_linear(root, "lm_head", 8, 64, false);
    root.to_device(run);
  }
  std::vector<std::string> trained() {
    std::vector<std::string> names;
    visit_parameters(root, [&](const Module& module, Parameter& parameter) {
      const std::string name = full_name(module, parameter);
      if (parameter.tensor.requires_grad()) names.push_back(name);
    });
    return names;
  }
  std::vector<std::string> adapted_by(LoraOptions options) {
    add_lora(run, root, options);
    return trained();
  }
};

using Names = std::vector<std::string>;

TEST_F(Lora, AllLinearLeavesTheHeadAlone) {
  EXPECT_EQ(adapted_by({.target_modules = "All-Linear"}),
            (Names{"layers.0.q_proj.lora_A.default.weight", "layers.0.q_proj.lora_B.default.weight",
                   "layers.0.k_proj.lora_A.default.weight", "layers.0.k_proj.lora_B.default.weight"}));
}

TEST_F(Lora, AllLinearLeavesWhatMakesLogitsAlone) {
  root["layers"]["0"]["k_proj"].is_output_embedding = true;
  EXPECT_EQ(adapted_by({.target_modules = "all-linear"}),
            (Names{"layers.0.q_proj.lora_A.default.weight", "layers.0.q_proj.lora_B.default.weight"}));
}

TEST_F(Lora, NamesAreWholePartsAtTheEnd) {
  EXPECT_EQ(adapted_by({.target_modules = Names{"proj", "lm_head"}}),
            (Names{"lm_head.lora_A.default.weight", "lm_head.lora_B.default.weight"}));
}

TEST_F(Lora, APatternMatchesTheWholeName) {
  EXPECT_EQ(adapted_by({.target_modules = R"(.*\.(k|v)_proj)"}).size(), 2u);
  EXPECT_THROW(add_lora(run, root, {.target_modules = "k_proj"}), Error);
}

TEST_F(Lora, AdaptersAreFp32UnlessSaid) {
  add_lora(run, root, {.r = 2, .target_modules = Names{"k_proj"}});
  Module& adapted = root["layers"]["0"]["k_proj"];
  EXPECT_EQ(adapted["lora_A"]["default"]("weight").dtype(), Dtype::f32);
  EXPECT_EQ(adapted["lora_B"]["default"]("weight").sizes(), (Dims{4, 2}));
  EXPECT_EQ(adapted["base_layer"]("weight").dtype(), Dtype::bf16);
  EXPECT_TRUE(adapted["base_layer"].has_parameter("bias"));
}

TEST_F(Lora, AdaptersInTheTypeOfTheWeights) {
  add_lora(run, root, {.target_modules = Names{"k_proj"}, .adapter_dtype = Dtype::bf16});
  EXPECT_EQ(root["layers"]["0"]["k_proj"]["lora_A"]["default"]("weight").dtype(), Dtype::bf16);
}

TEST_F(Lora, TheResultHasTheTypeOfTheBaseLayer) {
  add_lora(run, root, {.dropout = 0.5, .target_modules = Names{"q_proj"}});
  const Tensor y = root["layers"]["0"]["q_proj"](empty(run, {3, 8}, Dtype::bf16));
  EXPECT_EQ(y.dtype(), Dtype::bf16);
  EXPECT_TRUE(y.requires_grad());
}

TEST_F(Lora, RefusesByName) {
  const auto message = [&](const LoraOptions& options) -> std::string {
    try {
      add_lora(run, root, options);
    } catch (const Error& error) {
      return std::string(name_of(error.code())) + ": " + error.message();
    }
    return "";
  };
  EXPECT_EQ(message({.target_modules = Names{"embed_tokens"}}),
            "unsupported: no adapters here for embed_tokens: it is not a linear module");
  EXPECT_EQ(message({.target_modules = "("}), "bad_value: not a regular expression: (");
  EXPECT_EQ(message({.target_modules = Names{"x"}}), "bad_value: no module of the model has such a name");
  EXPECT_EQ(message({.target_modules = Names{"q_proj"}, .adapter_dtype = Dtype::f16}),
            "unsupported: PEFT makes adapters in the type of the weights or in fp32");
}

TEST_F(Lora, ExpertsArePartOfWhatPeftRenames) {
  const Names renamed = converted_expert_names("deepseek_v3");
  EXPECT_EQ(adapted_by({.target_modules = Names{"q_proj", "k_proj"}, .expert_names = renamed}).size(), 4u);
  Module& experts = root.add("experts");
  experts.parameter("gate_up_proj", {4, 16, 8});
  EXPECT_THROW(add_lora(run, root, {.target_modules = "all-linear", .expert_names = renamed}), Error);
  EXPECT_THROW(add_lora(run, root, {.target_modules = Names{"q_proj", "mlp.gate_proj"}, .expert_names = renamed}),
               Error);
}

TEST_F(Lora, ExpertsThatAreModulesTakeAdaptersAsOthersDo) {
  EXPECT_NO_THROW(add_lora(run, root, {.target_modules = Names{"q_proj"}, .expert_names = {"q_proj"}}));
}

TEST_F(Lora, NothingIsRenamedOfOtherModels) {
  EXPECT_EQ(converted_expert_names("gpt_oss"), Names{});
  EXPECT_EQ(adapted_by({.target_modules = "all-linear", .expert_names = {}}).size(), 4u);
}

TEST(LoraTargets, ComeFromPeftsTable) {
  EXPECT_EQ(default_lora_targets("gpt2"), Names{"c_attn"});
  EXPECT_FALSE(default_lora_targets("llava"));
}

}  // namespace
}  // namespace tidemark
