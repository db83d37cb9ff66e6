#include "spec_options.h"

#include <gtest/gtest.h>

#include "command_line.h"
#include "support/temporary_folder.h"
#include "support/throws.h"

namespace tidemark::cli {
namespace {

SpecOptions parsed(std::vector<std::string> words) {
  words.insert(words.begin(), "predict");
  return std::get<PredictCommandOptions>(parse_command_line(words)).spec;
}

TEST(SpecOptions, SayOnlyWhatWasSaid) {
  EXPECT_EQ(parsed({"c.json"}).said, Value(Value::Map{}));
  const Value said =
      parsed({"c.json", "--batch", "16", "--no-labels", "--grad-scaler", "--freeze", "a,b", "--freeze", "c"}).said;
  EXPECT_EQ(said.as_map()->size(), 4U);
  EXPECT_EQ(*said.find("batch"), Value(16));
  EXPECT_EQ(*said.find("labels"), Value(false));
  EXPECT_EQ(*said.find("grad_scaler"), Value(true));
  EXPECT_EQ(*said.find("freeze"), Value(Value::List{"a", "b", "c"}));
}

TEST(SpecOptions, GatherNestedFields) {
  EXPECT_EQ(*parsed({"c.json", "--lora-r", "4", "--lora"}).said.find("lora")->find("r"), Value(4));
  EXPECT_EQ(*parsed({"c.json", "--lora"}).said.find("lora"), Value(Value::Map{}));
}

TEST(SpecOptions, WinOverTheFile) {
  const TemporaryFolder folder;
  folder.write("m/config.json", R"({"model_type": "gpt2"})");
  const std::string file =
      folder
          .write("s.yaml",
                 "model: m\nbatch: 2\nseq: 512\nlora: {r: 4, alpha: 2}\nset_to_none: false\nmax_grad_norm: 1\n")
          .string();
  const Asked asked =
      read_asked(parsed({"--spec", file, "--batch=8", "--lora-r=16", "--set-to-none", "--max-grad-norm", "none"}));
  EXPECT_EQ(asked.spec.batch, 8);
  EXPECT_EQ(asked.spec.seq, 512);
  EXPECT_EQ(asked.spec.lora->r, 16);
  EXPECT_EQ(asked.spec.lora->alpha, 2);
  EXPECT_TRUE(asked.spec.set_to_none);
  EXPECT_FALSE(asked.spec.max_grad_norm);
  EXPECT_EQ(*asked.model_config.find("model_type"), Value("gpt2"));
}

TEST(SpecOptions, TakeAModelThatStandsInTheFile) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.json", R"({"model": {"model_type": "vit"}})").string();
  EXPECT_EQ(*read_asked(parsed({"--spec", file})).model_config.find("model_type"), Value("vit"));
  const std::string wrong = folder.write("w.json", R"({"model": {}})").string();
  const auto error = error_of([&] { read_asked(parsed({"--spec", wrong})); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->where(), wrong + ": model");
}

TEST(SpecOptions, NameTheOptionOfABadValue) {
  const auto error = error_of([] { parsed({"c.json", "--image-tokens", "many"}); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "--image-tokens: expected a whole number, found \"many\"");
}

}  // namespace
}  // namespace tidemark::cli
