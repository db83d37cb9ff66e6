#include "nn/quantization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "nn/layers.h"
#include "nn/lora.h"

namespace tidemark {
namespace {

using Names = std::vector<std::string>;

struct Quantization : testing::Test {
  tidemark::Run run{RunConfig()};
  Module root;

  void SetUp() override {
    root.dtype = Dtype::bf16;
    add_embedding(root, "embed_tokens", 64, 128);
    Module& layer = root.add("layers").add("0");
    add_linear(layer, "q_proj", 128, 256, false);
    add_linear(layer, "k_proj", 128, 64, true);
    layer.add("norm").parameter("weight", {128}).parameter("bias", {128});
    add_linear(root, "lm_head", 128, 64, false);
  }
  Names quantized_by(const QuantizationOptions& options) {
    quantize_modules(root, options);
    Names names;
    visit_parameters(root, [&](const Module& module, const Parameter&) {
      if (module.quantized && (names.empty() || names.back() != module.full_name()))
        names.push_back(module.full_name());
    });
    return names;
  }
};

TEST_F(Quantization, LeavesTheHeadAlone) { EXPECT_EQ(quantized_by({}), (Names{"layers.0.q_proj", "layers.0.k_proj"})); }

TEST_F(Quantization, LeavesWhatIsTiedAlone) {
  root["lm_head"].tie("weight", root["layers"]["0"]["k_proj"], "weight");
  EXPECT_EQ(quantized_by({}), Names{"layers.0.q_proj"});
}

TEST_F(Quantization, NamedModulesTakeThePlaceOfTheUsualOnes) {
  EXPECT_EQ(quantized_by({.skip_modules = Names{"k_proj"}}), (Names{"layers.0.q_proj", "lm_head"}));
}

TEST_F(Quantization, APatternCountsAtTheBeginning) {
  EXPECT_EQ(quantized_by({.skip_modules = Names{R"(layers\.\d)"}}), Names{"lm_head"});
  EXPECT_THROW(quantize_modules(root, {.skip_modules = Names{"("}}), Error);
}

TEST_F(Quantization, SomethingIsToBeLeft) {
  EXPECT_THROW(quantize_modules(root, {.skip_modules = Names{"layers", "lm_head"}}), Error);
}

TEST_F(Quantization, AWeightIsHalfAByteAndItsScales) {
  quantize_modules(root, {.use_double_quant = true});
  root.to_device(run);
  const Module& q_proj = root["layers"]["0"]["q_proj"];
  EXPECT_EQ(q_proj.get("weight").tensor.sizes(), (Dims{128 * 256 / 2, 1}));
  EXPECT_EQ(q_proj.get("weight").tensor.dtype(), Dtype::uint8);
  const QuantState& state = q_proj.quantized->state;
  EXPECT_EQ(state.absmax.sizes(), Dims{128 * 256 / 64});
  EXPECT_EQ(state.nested_absmax.sizes(), Dims{128 * 256 / 64 / 256});
  EXPECT_THROW(q_proj("weight"), Error);
}

TEST_F(Quantization, InEightBitsAWeightIsAByteAndOneScaleForEachRow) {
  quantize_modules(root, {.load_in_8bit = true});
  root.to_device(run);
  const Module& q_proj = root["layers"]["0"]["q_proj"];
  EXPECT_EQ(q_proj.get("weight").tensor.sizes(), (Dims{256, 128}));
  EXPECT_EQ(q_proj.get("weight").tensor.bytes(), 128 * 256);
  EXPECT_EQ(q_proj.quantized->rows.largest.sizes(), Dims{256});
  EXPECT_THROW(q_proj("weight"), Error);
  EXPECT_THROW(root["layers"]["0"]["q_proj"](zeros(run, {2, 2, 2, 128}, Dtype::bf16)), Error);
}

TEST_F(Quantization, WhatAProductOfEightBitsKeepsIsNotLeftOutByACheckpoint) {
  quantize_modules(root, {.load_in_8bit = true});
  root.to_device(run);
  const auto held_by = [&](bool load_in_8bit) {
    Tensor x = zeros(run, {2, 64, 128}, Dtype::bf16);
    x.impl().requires_grad = true;
    const std::int64_t before = run.allocator().totals().allocated_bytes;
    const Tensor y = checkpoint(run, [&] {
      Tensor twice = add_scalar(x);
      return load_in_8bit ? Tensors{root["layers"]["0"]["q_proj"](twice)} : Tensors{mul(twice, twice)};
    })[0];
    return run.allocator().totals().allocated_bytes - before - y.bytes();
  };
  EXPECT_EQ(held_by(true), 2 * 64 * 128 * 2);
  EXPECT_EQ(held_by(false), 0);
}

TEST_F(Quantization, AdaptersAreFp32AndAllElseIsFrozen) {
  quantize_modules(root, {});
  root.to_device(run);
  add_lora(run, root, {.target_modules = "all-linear"});
  EXPECT_EQ(root["layers"]["0"]["q_proj"]["lora_A"]["default"]("weight").dtype(), Dtype::f32);
  EXPECT_EQ(trainable_parameters(root).size(), 4u);
}

TEST_F(Quantization, WhatIsPreparedIsFp32ButForPackedWeights) {
  quantize_modules(root, {.quant_storage = Dtype::bf16});
  root.to_device(run);
  prepare_for_kbit_training(run, root);
  EXPECT_EQ(root["embed_tokens"]("weight").dtype(), Dtype::f32);
  EXPECT_EQ(root["layers"]["0"]["k_proj"]("bias").dtype(), Dtype::f32);
  EXPECT_EQ(root["layers"]["0"]["k_proj"].get("weight").tensor.dtype(), Dtype::bf16);
}

TEST_F(Quantization, OfABiasTheTypeIsThatOfTheComputation) {
  quantize_modules(root, {.compute_dtype = Dtype::bf16});
  root.to_device(run);
  prepare_for_kbit_training(run, root);
  Module& k_proj = root["layers"]["0"]["k_proj"];
  const Tensor y = k_proj(zeros(run, {2, 128}, Dtype::f32));
  EXPECT_EQ(y.dtype(), Dtype::f32);
  EXPECT_EQ(y.sizes(), (Dims{2, 64}));
  EXPECT_EQ(k_proj("bias").dtype(), Dtype::bf16);
}

}  // namespace
}  // namespace tidemark
