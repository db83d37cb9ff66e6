#include "io/hf_config.h"

#include <gtest/gtest.h>

#include "support/throws.h"

namespace tidemark::io {
namespace {

TEST(HfConfig, ReadsWhatPythonWrites) {
  const Value config = read_hf_config(
      R"({"model_type": "mamba2", "time_step_limit": [0.0, Infinity], "low": -Infinity, "n": NaN, "note": "to \"Infinity\" NaN"})",
      "c");
  EXPECT_EQ((*config.find("time_step_limit")->as_list())[1], Value());
  EXPECT_EQ(*config.find("low"), Value());
  EXPECT_EQ(*config.find("n"), Value());
  EXPECT_EQ(*config.find("note"), Value("to \"Infinity\" NaN"));
}

TEST(HfConfig, WantsAModelType) {
  for (const char* text : {"{}", R"({"model_type": 3})", R"({"model_type": ""})", "[]"}) {
    const auto error = error_of([&] { read_hf_config(text, "c.json"); });
    ASSERT_TRUE(error) << text;
    EXPECT_EQ(error->where(), "c.json");
    EXPECT_EQ(error->hint(), "is it a model's config.json?");
  }
}

}  // namespace
}  // namespace tidemark::io
