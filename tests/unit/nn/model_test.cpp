#include "nn/model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "zoo/model.h"

namespace tidemark {
namespace {

Value::Map sizes(const char* model_type) {
  return {{"model_type", model_type}, {"hidden_size", 64},        {"intermediate_size", 96}, {"num_hidden_layers", 5},
          {"num_attention_heads", 4}, {"num_key_value_heads", 2}, {"vocab_size", 128}};
}

std::unique_ptr<Model> make(const Value& config, const char* model_type) {
  return model_entry(model_type).make({config, "causal_lm", {}, Dtype::bf16});
}

std::vector<std::string> names(Model& model) {
  std::vector<std::string> found;
  visit_parameters(model.root,
                   [&](const Module& module, Parameter& parameter) { found.push_back(full_name(module, parameter)); });
  return found;
}

TEST(Parts, TogetherHaveWhatTheModelHas) {
  const Value config = sizes("llama");
  std::vector<std::string> together, whole = names(*make(config, "llama"));
  const Part parts[] = {{0, 2, true, false}, {2, 0, false, false}, {2, 2, false, false}, {4, 1, false, true}};
  for (const Part& part : parts) {
    const std::unique_ptr<Model> model = make(config, "llama");
    keep_part(*model, part);
    for (std::string& name : names(*model)) together.push_back(std::move(name));
  }
  std::sort(together.begin(), together.end());
  std::sort(whole.begin(), whole.end());
  EXPECT_EQ(together, whole);
}

TEST(Parts, LayersKeepTheirPlaces) {
  const std::unique_ptr<Model> model = make(sizes("llama"), "llama");
  keep_part(*model, {3, 2, false, true});
  std::vector<std::size_t> places;
  for (const std::unique_ptr<Module>& layer : model->stack->layers->children()) places.push_back(layer->place());
  EXPECT_EQ(places, (std::vector<std::size_t>{3, 4}));
}

TEST(Parts, AreOfStacksOfLikeLayers) {
  EXPECT_TRUE(make(sizes("qwen2"), "qwen2")->stack);
  Value windows = sizes("qwen2");
  windows.set("use_sliding_window", true);
  windows.set("max_window_layers", 1);
  EXPECT_FALSE(make(windows, "qwen2")->stack);  // the first layer sees all, the others a window
}

TEST(Configs, OfOlmoeHaveHeadsThatFillTheirNorm) {
  Value config = sizes("olmoe");
  EXPECT_NO_THROW(make(config, "olmoe"));
  config.set("head_dim", 32);
  EXPECT_THROW(make(config, "olmoe"), Error);
  config = sizes("olmoe");
  config.set("hidden_size", 66);
  EXPECT_THROW(make(config, "olmoe"), Error);
}

}  // namespace
}  // namespace tidemark
