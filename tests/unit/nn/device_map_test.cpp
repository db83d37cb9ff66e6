#include "nn/device_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nn/layers.h"
#include "nn/quantization.h"

namespace tidemark {
namespace {

using testing::ElementsAre;

RunConfig with_card() {
  RunConfig config;
  config.card.total_bytes = 80LL << 30;
  return config;
}

struct DeviceMap : testing::Test {
  tidemark::Run run{with_card()};
  Module root;

  void SetUp() override {
    root.dtype = Dtype::bf16;
    Module& model = root.add("model");
    add_embedding(model, "embed_tokens", 1024, 2048);
    Module& layers = model.add("layers");
    for (const char* name : {"2", "10"}) add_linear(layers.add(name), "up_proj", 2048, 16, false);
    model.buffer("frequencies", {16}, Dtype::f32);
    add_linear(root, "lm_head", 2048, 1024, false);
  }
  /// What was asked for, behind the look at the device and the block for all.
  std::vector<std::string> loaded() {
    load_by_device_map(run, root, true);
    std::vector<std::string> modules;
    for (std::size_t i = 2; i < run.ledger().size(); ++i) modules.push_back(run.module_name(run.ledger()[i].module));
    return modules;
  }
};

TEST_F(DeviceMap, WeightsComeByTheirNamesAndNumbersByTheirSize) {
  EXPECT_THAT(loaded(), ElementsAre("lm_head", "model.embed_tokens", "model.layers.2.up_proj",
                                    "model.layers.10.up_proj", "model"));
}

TEST_F(DeviceMap, ABlockForAllIsAskedForFirstLessWhatIsCached) {
  loaded();
  constexpr std::int64_t kWeights = 2 * (2 * 1024 * 2048 + 2 * 2048 * 16), kCached = 2 << 20;
  EXPECT_EQ(run.ledger()[1].requested_bytes, kWeights - kCached);
  EXPECT_EQ(run.allocator().totals().reserved_bytes, (20 << 20) + kCached);  // kLargeBuffer: the tables come out of it
}

TEST_F(DeviceMap, ATableAlmostAsLargeAsItsBlockIsNotRoundedUp) {
  Module odd;
  odd.dtype = Dtype::bf16;
  add_embedding(odd, "embed_tokens", 1000, 8192);  // 16,384,000 bytes: by themselves they take 16 MiB
  add_embedding(odd, "other", 1000, 8192);
  load_by_device_map(run, odd, true);
  EXPECT_EQ(odd["embed_tokens"]("weight").bytes(), 16'384'000);
  EXPECT_LT(run.allocator().totals().allocated_bytes, 2 * (16 << 20));
}

TEST_F(DeviceMap, WhatIsTiedComesOnce) {
  root["lm_head"].tie("weight", root["model"]["embed_tokens"], "weight");
  EXPECT_THAT(loaded(),
              ElementsAre("model.embed_tokens", "model.layers.2.up_proj", "model.layers.10.up_proj", "model"));
}

TEST_F(DeviceMap, OneThatSaysTheDeviceLooksForNone) {
  load_by_device_map(run, root, false);
  EXPECT_EQ(run.ledger()[0].requested_bytes, 2 * (2 * 1024 * 2048 + 2 * 2048 * 16));
}

TEST_F(DeviceMap, OfPackedWeightsHalfAByteIsCounted) {
  quantize_modules(root, {.skip_modules = std::vector<std::string>{"embed_tokens"}});
  load_by_device_map(run, root, true);
  EXPECT_EQ(run.ledger()[1].requested_bytes, 2 * 1024 * 2048 + (1024 * 2048 + 2 * 2048 * 16) / 2 - (2 << 20));
}

}  // namespace
}  // namespace tidemark
