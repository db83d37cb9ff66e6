// Sizes that are each allowed, and together pass 2^63: an Error that says which, never a number that wrapped around.
#include <gtest/gtest.h>

#include "asked.h"

namespace tidemark {
namespace {

constexpr std::int64_t kLargest = 1 << 26, kHuge = 1LL << 62;

Value huge_llama() {
  return Value::Map{{"model_type", "llama"},   {"hidden_size", 64}, {"intermediate_size", 96},
                    {"num_hidden_layers", 2},  {"vocab_size", 128}, {"num_attention_heads", 4},
                    {"num_key_value_heads", 2}};
}

Spec of_images(Value::Map model) {
  Spec spec;
  spec.model = std::move(model);
  spec.seq = 64, spec.images = 1;
  return spec;
}

Spec qwen2_vl(Value::List sections, std::int64_t merges) {
  const Value rope = Value::Map{{"rope_type", "default"}, {"mrope_section", std::move(sections)}};
  const Value::Map text{{"hidden_size", 64},      {"intermediate_size", 96},  {"num_hidden_layers", 2},
                        {"vocab_size", 128},      {"num_attention_heads", 4}, {"num_key_value_heads", 2},
                        {"rope_parameters", rope}};
  const Value::Map vision{{"depth", 1},     {"embed_dim", 64}, {"hidden_size", 64},
                          {"num_heads", 4}, {"mlp_ratio", 2},  {"spatial_merge_size", merges}};
  Spec spec = of_images({{"model_type", "qwen2_vl"}, {"text_config", text}, {"vision_config", vision}});
  spec.image_size = "112";
  return spec;
}

TEST(LargeSizes, OfPatchesThatBecomeOneToken) { EXPECT_THROW(predicted(qwen2_vl({2, 3, 3}, kLargest)), Error); }

TEST(LargeSizes, OfTheSectionsOfAHead) {
  for (const Value::List& sections : {Value::List{2, 3, 4}, {-2, 7, 3}, {kHuge, kHuge}})
    EXPECT_EQ(refused(qwen2_vl(sections, 2)), "5.17.0/qwen2_vl");  // which holds for those that are published
}

TEST(LargeSizes, OfWeightsOnTheHost) {
  Spec spec;
  spec.model = huge_llama();
  for (const char* key : {"num_attention_heads", "num_key_value_heads"}) spec.model.set(key, 1 << 18);
  spec.model.set("hidden_size", kLargest);
  spec.model.set("head_dim", 128);
  spec.gpus = 2, spec.load = Load::wrapped;
  for (const Parallel parallel : {Parallel::gemini, Parallel::fsdp1, Parallel::fsdp2}) {
    spec.parallel = parallel;
    EXPECT_EQ(refused(spec), "config.json");
  }
  spec.parallel = Parallel::zero3, spec.load = Load::to;
  EXPECT_EQ(refused(spec), "config.json");
}

}  // namespace
}  // namespace tidemark
