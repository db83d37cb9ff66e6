#include "estimate/layer_set.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "estimate/asked.h"

namespace tidemark {
namespace {

TEST(LayerSet, IsNumbersAndRanges) {
  EXPECT_EQ(parse_layers({"0-3", "7"}), (LayerRanges{{0, 3}, {7, 7}}));
  EXPECT_EQ(parse_layers({}), LayerRanges{});
  for (const char* text : {"", "-", "3-", "-3", "3-2", "a", "1-2-3", " 1", "65536"})
    EXPECT_THROW(parse_layers({text}), Error) << text;
}

TEST(LayerSet, IsWrittenAsShortAsItCanBe) {
  EXPECT_EQ(layers_to_texts({0, 1, 2, 5, 7, 8}), (std::vector<std::string>{"0-2", "5", "7-8"}));
  EXPECT_TRUE(layers_to_texts({}).empty());
}

Spec spec_of_llama() {
  Spec spec;
  spec.model = Value::Map{{"model_type", "llama"},  {"hidden_size", 128},       {"intermediate_size", 344},
                          {"num_hidden_layers", 3}, {"num_attention_heads", 4}, {"vocab_size", 1024}};
  spec.batch = 2;
  spec.seq = 64;
  spec.checkpointing = Checkpointing::non_reentrant;
  return spec;
}

TEST(CheckpointedLayers, AreThoseOfTheModel) {
  Spec all = spec_of_llama(), named = spec_of_llama(), some = spec_of_llama();
  named.checkpoint_layers = {"0-2"};
  some.checkpoint_layers = {"0"};
  EXPECT_EQ(peak_bytes(named), peak_bytes(all));
  EXPECT_GT(peak_bytes(some), peak_bytes(all));
  some.checkpoint_layers = {"1", "3"};
  EXPECT_EQ(refused(some), "checkpoint_layers");
}

TEST(KeptOperators, TakeMemoryAndMustBeRun) {
  Spec spec = spec_of_llama();
  const std::int64_t nothing = peak_bytes(spec);
  spec.checkpoint_save = {"mm"};
  const std::int64_t products = peak_bytes(spec);
  EXPECT_GT(products, nothing);
  spec.checkpoint_save_layers = {"2"};
  EXPECT_LT(peak_bytes(spec), products);
  spec.checkpoint_save_layers = {"3"};
  EXPECT_EQ(refused(spec), "checkpoint_save_layers");
  spec.checkpoint_save_layers = {};
  spec.checkpoint_save = {"mm", "addmm"};
  EXPECT_EQ(refused(spec), "checkpoint_save");
}

/// In half precision without fused attention the bias is added; a mode that sees each operator keeps that from being in
/// place, so that what bmm gave is as it was.
TEST(KeptOperators, OfMathAttentionAreNotWrittenOver) {
  Spec spec = spec_of_llama();
  spec.torch = "2.11.0";  // whose efficient attention takes no groups of heads
  spec.model.set("num_key_value_heads", 2);
  spec.dtype = WeightDtype::fp32;
  spec.checkpoint_save = {"bmm"};
  EXPECT_GT(peak_bytes(spec), 0);
}

}  // namespace
}  // namespace tidemark
