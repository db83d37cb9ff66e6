#include "estimate/kv_cache.h"

#include <gtest/gtest.h>

#include "io/value_json.h"

namespace tidemark {
namespace {

std::optional<KvCacheReport> cache_of(const char* config) {
  Program program;
  program.header = {{"head", "causal_lm"}};
  program.config = io::value_from_json(config, "config.json");
  return kv_cache_of(program, Dtype::bf16);
}

// Llama-3.1-8B: 2 x 32 layers x 8 heads x 128 x 2 bytes.
TEST(KvCache, GroupedHeadsTakeTheirShare) {
  const auto cache = cache_of(R"({"model_type": "llama", "num_hidden_layers": 32, "num_attention_heads": 32,
                                  "num_key_value_heads": 8, "hidden_size": 4096})");
  ASSERT_TRUE(cache);
  EXPECT_EQ(cache->layers, 32);
  EXPECT_EQ(cache->bytes_per_token, 131072);
  EXPECT_EQ(cache->window_layers + cache->state_layers, 0);
}

TEST(KvCache, HeadsWithoutGroupsTakeAll) {
  EXPECT_EQ(cache_of(R"({"model_type": "gpt2", "n_layer": 12, "n_head": 12, "n_embd": 768})")->bytes_per_token,
            2 * 12 * 768 * 2);
}

TEST(KvCache, OneHeadOfMultiQuery) {
  const char* config = R"({"model_type": "falcon", "num_hidden_layers": 32, "num_attention_heads": 71,
                           "hidden_size": 4544, "multi_query": true, "new_decoder_architecture": false})";
  EXPECT_EQ(cache_of(config)->bytes_per_token, 2 * 32 * 64 * 2);
}

// DeepSeek-V3: a latent of 512 elements, and 64 that are rotated.
TEST(KvCache, LatentIsCached) {
  const auto cache = cache_of(R"({"model_type": "deepseek_v3", "num_hidden_layers": 61, "num_attention_heads": 128,
                                  "hidden_size": 7168, "kv_lora_rank": 512, "qk_rope_head_dim": 64})");
  ASSERT_TRUE(cache);
  EXPECT_EQ(cache->bytes_per_token, 61 * 576 * 2);
}

TEST(KvCache, WindowsAndStatesAreApart) {
  const auto gemma = cache_of(R"({"model_type": "gemma3_text", "num_hidden_layers": 26, "num_attention_heads": 4,
                                  "num_key_value_heads": 1, "head_dim": 256, "sliding_window": 512,
                                  "layer_types": null})");
  ASSERT_TRUE(gemma);
  EXPECT_EQ(gemma->layers, 4);
  EXPECT_EQ(gemma->window_layers, 22);
  EXPECT_EQ(gemma->window_tokens, 512);
  EXPECT_EQ(gemma->window_bytes_per_token, 22 * 2 * 256 * 2);
  const auto hybrid = cache_of(R"({"model_type": "qwen3_next", "num_hidden_layers": 48, "num_attention_heads": 16,
                                   "num_key_value_heads": 2, "head_dim": 256, "full_attention_interval": 4,
                                   "layer_types": null})");
  ASSERT_TRUE(hybrid);
  EXPECT_EQ(hybrid->layers, 12);
  EXPECT_EQ(hybrid->state_layers, 36);
}

TEST(KvCache, WindowWithoutKindsIsOfAllLayers) {
  const auto mistral = cache_of(R"({"model_type": "mistral", "num_hidden_layers": 32, "num_attention_heads": 32,
                                    "num_key_value_heads": 8, "head_dim": 128, "sliding_window": 4096})");
  EXPECT_EQ(mistral->window_layers, 32);
  const auto qwen = cache_of(R"({"model_type": "qwen2", "num_hidden_layers": 28, "num_attention_heads": 28,
                                 "num_key_value_heads": 4, "head_dim": 128, "sliding_window": 131072,
                                 "use_sliding_window": false, "max_window_layers": 28, "layer_types": null})");
  EXPECT_EQ(qwen->layers, 28);
}

TEST(KvCache, NoneWhereConfigurationDoesNotSay) {
  EXPECT_FALSE(cache_of(R"({"model_type": "x", "num_hidden_layers": 12})"));
  EXPECT_FALSE(cache_of(R"({"model_type": "olmo3", "num_hidden_layers": 4, "num_attention_heads": 4, "head_dim": 8,
                            "sliding_window": 16, "layer_types": null})"));
  EXPECT_FALSE(cache_of(R"({"model_type": "t5", "num_layers": 12, "num_heads": 12, "d_model": 768,
                            "is_encoder_decoder": true})"));
  EXPECT_FALSE(cache_of(R"({"model_type": "x", "num_hidden_layers": 2, "num_attention_heads": 2, "head_dim": 8,
                            "layer_types": ["full_attention", "compressed_attention"]})"));
}

TEST(KvCache, EncoderHasNone) {
  Program program;
  program.header = {{"head", "masked_lm"}};
  program.config = io::value_from_json(R"({"model_type": "bert", "num_hidden_layers": 12, "num_attention_heads": 12,
                                           "hidden_size": 768})",
                                       "config.json");
  EXPECT_FALSE(kv_cache_of(program, Dtype::bf16));
}

TEST(KvCache, ProgramHasWhatIsLeftOut) {
  Program program;
  program.header = {{"head", "causal_lm"}};
  program.config = io::value_from_json(R"({"model_type": "x", "num_hidden_layers": 2})", "config.json");
  program.symbols = {"num_attention_heads", "head_dim"};
  program.captured_values = {4, 8};
  EXPECT_EQ(kv_cache_of(program, Dtype::f32)->bytes_per_token, 2 * 2 * 4 * 8 * 4);
}

}  // namespace
}  // namespace tidemark
