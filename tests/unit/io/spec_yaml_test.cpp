#include "io/spec_yaml.h"

#include <gtest/gtest.h>

#include "support/throws.h"

namespace tidemark::io {
namespace {

TEST(SpecYaml, ReadsWhatPeopleWrite) {
  const Spec spec = read_spec_yaml(
      "model: llava-1.5-7b/config.json\nbatch: 16\nimages: 1\nimage_size: 336\nfreeze: [vision_tower]\n"
      "checkpointing: non_reentrant\nmax_grad_norm: null\nautocast: none\nuse_cache: false\nlora: {}\n",
      "s.yaml");
  EXPECT_EQ(spec.batch, 16);
  EXPECT_EQ(spec.image_size, "336");
  EXPECT_EQ(spec.checkpointing, Checkpointing::non_reentrant);
  EXPECT_EQ(spec.use_cache, UseCache::no);
  EXPECT_FALSE(spec.max_grad_norm);
  EXPECT_TRUE(spec.lora);
}

TEST(SpecYaml, NamesTheLine) {
  const auto error = error_of([] { read_spec_yaml("batch: 1\nlora:\n  r: many\n", "s.yaml"); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "s.yaml: line 3: lora.r: expected a whole number, found \"many\"");
}

TEST(SpecYaml, TakesAnEmptyFileForNoWishes) { EXPECT_EQ(read_spec_yaml("", "s.yaml").batch, 1); }

TEST(SpecFile, IsJsonOrYaml) {
  EXPECT_EQ(value_of_spec_file("{\"batch\": 2}", "s"), Value(Value::Map{{"batch", 2}}));
  EXPECT_EQ(value_of_spec_file("{batch: 2}", "s.yml"), Value(Value::Map{{"batch", 2}}));
  EXPECT_EQ(value_of_spec_file("batch: 2", "s"), Value(Value::Map{{"batch", 2}}));
  EXPECT_THROW(value_of_spec_file("batch: 2", "s.json"), Error);
  EXPECT_EQ(value_of_spec_file(" ", "s"), Value(Value::Map{}));
}

}  // namespace
}  // namespace tidemark::io
