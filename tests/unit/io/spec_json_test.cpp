#include "io/spec_json.h"

#include <gtest/gtest.h>

#include "support/throws.h"

namespace tidemark::io {
namespace {

TEST(SpecJson, GivesBackWhatItWrote) {
  const std::string text =
      R"({"model": {"model_type": "gpt2"}, "batch": 4, "lora": {"target_modules": ["c_attn"]}, "max_grad_norm": 1.0})";
  const std::string written = write_spec_json(read_spec_json(text, "s.json"));
  EXPECT_EQ(write_spec_json(read_spec_json(written, "again")), written);
}

TEST(SpecJson, NamesTheNearestKey) {
  const auto error = error_of([] { read_spec_json(R"({"optimiser": "adamw"})", "s.json"); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "s.json: \"optimiser\" is not a known key (did you mean optimizer?)");
}

}  // namespace
}  // namespace tidemark::io
