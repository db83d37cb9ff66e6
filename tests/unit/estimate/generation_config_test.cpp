#include "estimate/generation_config.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "io/value_json.h"

namespace tidemark {
namespace {

Value keys_in(const char* text) { return io::value_from_json(text, "test"); }

GenerationConfig of_file(const char* text, const char* config = R"({"eos_token_id": 9})") {
  Spec spec;
  spec.generate = 4;
  spec.generation_config = keys_in(text);
  return generation_config_of(spec, keys_in(config));
}

GenerationConfig of_config(const char* text) {
  Spec spec;
  spec.generate = 4;
  return generation_config_of(spec, keys_in(text));
}

TEST(GenerationConfig, FileReplacesTokensOfConfig) {
  const GenerationConfig several = of_file(R"({"eos_token_id": [1, 2, 3], "pad_token_id": 0})");
  EXPECT_EQ(several.eos_tokens, 3);
  EXPECT_TRUE(several.has_pad);
  EXPECT_FALSE(several.has_bos);
  EXPECT_EQ(of_file("{}").eos_tokens, 0);
}

TEST(GenerationConfig, ConfigCountsWithoutFile) {
  EXPECT_EQ(of_config(R"({"eos_token_id": [1, 2]})").eos_tokens, 2);
  EXPECT_EQ(of_config("{}").eos_tokens, 1);
  EXPECT_TRUE(of_config(R"({"text_config": {"pad_token_id": 3}})").has_pad);
  EXPECT_EQ(of_config(R"({"eos_token_id": 1, "text_config": {"eos_token_id": [1, 2]}})").eos_tokens, 1);
}

TEST(GenerationConfig, RepetitionIsPenalizedUnlessOne) {
  EXPECT_TRUE(of_file(R"({"repetition_penalty": 1.05})").penalizes_repetition);
  EXPECT_FALSE(of_file(R"({"repetition_penalty": 1.0})").penalizes_repetition);
  EXPECT_FALSE(of_file("{}").penalizes_repetition);
}

TEST(GenerationConfig, CacheIsOffByConfigAlone) {
  EXPECT_TRUE(of_config(R"({"use_cache": false})").has_cache_off);
  EXPECT_FALSE(of_config(R"({"use_cache": true})").has_cache_off);
  EXPECT_THROW(of_file(R"({"use_cache": false})"), Error);
  EXPECT_FALSE(of_file("{}", R"({"use_cache": false})").has_cache_off);
}

TEST(GenerationConfig, SamplingKeysAreWithoutEffect) {
  EXPECT_NO_THROW(of_file(R"({"do_sample": true, "temperature": 0.6, "top_p": 0.9, "top_k": 20, "num_beams": 1,
                              "cache_implementation": "hybrid", "max_length": 20, "use_cache": true})"));
}

class RefusedGenerationConfig : public testing::TestWithParam<const char*> {};

TEST_P(RefusedGenerationConfig, NamesTheKey) {
  const std::string text = GetParam(), key = text.substr(2, text.find('"', 2) - 2);
  for (const auto& read :
       {+[](const char* keys) { return of_file(keys); }, +[](const char* keys) { return of_config(keys); }})
    try {
      read(text.c_str());
      FAIL() << "accepted " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::unsupported);
      EXPECT_NE(error.where().find(": " + key), std::string::npos) << error.where();
    }
}

INSTANTIATE_TEST_SUITE_P(Keys, RefusedGenerationConfig,
                         testing::Values(R"({"num_beams": 4})", R"({"cache_implementation": "static"})",
                                         R"({"no_repeat_ngram_size": 3})", R"({"suppress_tokens": [1]})",
                                         R"({"guidance_scale": 1.5})", R"({"return_dict_in_generate": true})",
                                         R"({"forced_eos_token_id": 2})"));

}  // namespace
}  // namespace tidemark
