#include "nn/model.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tidemark {
namespace {

/// Five layers between embeddings and a head.
std::unique_ptr<Model> make() {
  auto model = std::make_unique<Model>(Model{.root = Module(""), .forward = {}, .batch_sizes = {}});
  Module& inner = model->root.add("model");
  Module& embeddings = inner.add("embed_tokens").parameter("weight", {128, 64});
  Module& layers = inner.add("layers");
  for (const char* name : {"0", "1", "2", "3", "4"}) layers.add(name).parameter("weight", {64, 64});
  Module& norm = inner.add("norm").parameter("weight", {64});
  Module& head = model->root.add("lm_head").parameter("weight", {128, 64});
  model->stack = Stack{{&embeddings}, &layers, {&norm, &head}, 64};
  return model;
}

std::vector<std::string> names(Model& model) {
  std::vector<std::string> found;
  visit_parameters(model.root,
                   [&](const Module& module, Parameter& parameter) { found.push_back(full_name(module, parameter)); });
  return found;
}

TEST(Parts, TogetherHaveWhatTheModelHas) {
  std::vector<std::string> together, whole = names(*make());
  const Part parts[] = {{0, 2, true, false}, {2, 0, false, false}, {2, 2, false, false}, {4, 1, false, true}};
  for (const Part& part : parts) {
    const std::unique_ptr<Model> model = make();
    keep_part(*model, part);
    for (std::string& name : names(*model)) together.push_back(std::move(name));
  }
  std::sort(together.begin(), together.end());
  std::sort(whole.begin(), whole.end());
  EXPECT_EQ(together, whole);
}

TEST(Parts, LayersKeepTheirPlaces) {
  const std::unique_ptr<Model> model = make();
  keep_part(*model, {3, 2, false, true});
  std::vector<std::size_t> places;
  for (const std::unique_ptr<Module>& layer : model->stack->layers->children()) places.push_back(layer->place());
  EXPECT_EQ(places, (std::vector<std::size_t>{3, 4}));
}

}  // namespace
}  // namespace tidemark
