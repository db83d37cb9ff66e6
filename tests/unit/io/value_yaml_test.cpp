#include "io/value_yaml.h"

#include <gtest/gtest.h>

#include "support/throws.h"

namespace tidemark::io {
namespace {

TEST(ValueYaml, ReadsTheCoreSchema) {
  const Value value = value_from_yaml(
      "a: 1\nb: -0.5\nc: 1e-4\nd: true\ne: ~\nf: yes\ng: '1'\nh: 0x10\ni: [x, 2]\nj: {k: null}\nl: 80GiB\nm: "
      "2.11.0\nn:\n- \n",
      "x");
  EXPECT_EQ(value, Value(Value::Map{{"a", 1},
                                    {"b", -0.5},
                                    {"c", 1e-4},
                                    {"d", true},
                                    {"e", Value()},
                                    {"f", "yes"},
                                    {"g", "1"},
                                    {"h", 16},
                                    {"i", Value::List{"x", 2}},
                                    {"j", Value::Map{{"k", Value()}}},
                                    {"l", "80GiB"},
                                    {"m", "2.11.0"},
                                    {"n", Value::List{Value()}}}));
}

TEST(ValueYaml, KnowsTheLines) {
  const Value value = value_from_yaml("# spec\nbatch: 4\nlora:\n  r: 8\n", "x");
  EXPECT_EQ(value.find("batch")->line(), 2);
  EXPECT_EQ(value.find("lora")->find("r")->line(), 4);
}

TEST(ValueYaml, IsNullForAnEmptyFile) {
  for (const char* text : {"", "\n", "# nothing\n", "---\n"}) EXPECT_TRUE(value_from_yaml(text, "x").is_null()) << text;
}

std::string deep() {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "- ";
  return text + "1";
}

struct Case {
  const char* name;
  std::string text, says;
};

class ValueYamlRefuses : public testing::TestWithParam<Case> {};

TEST_P(ValueYamlRefuses, WithTheLine) {
  const auto error = error_of([] { value_from_yaml(GetParam().text, "x.yaml"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::bad_file);
  EXPECT_EQ(std::string(error->what()).substr(0, GetParam().says.size()), GetParam().says) << error->what();
}

INSTANTIATE_TEST_SUITE_P(
    , ValueYamlRefuses,
    testing::Values(Case{"Twice", "a: 1\nb: 2\na: 3\n",
                         "x.yaml: line 3: the key \"a\" is given twice (it stands in line 1 already)"},
                    Case{"Alias", "a: &x [1]\nb: *x\n", "x.yaml: line 1: anchors (&name) are not read"},
                    Case{"UnknownAlias", "b: *x\n", "x.yaml: line 1: it is not YAML"},
                    Case{"Tag", "a: !!binary aGk=\n", "x.yaml: line 1: tags"},
                    Case{"KeyIsAMap", "? {a: 1}\n: 2\n", "x.yaml: line 1: a map cannot be a key"},
                    Case{"Broken", "a: [1, 2\nb: 3\n", "x.yaml: line 2: it is not YAML"},
                    Case{"Tab", "a:\n\tb: 1\n", "x.yaml: line 2: it is not YAML"},
                    Case{"Deep", deep(), "x.yaml: line 1: it is nested too deeply"},
                    Case{"LargeNumber", "\na: 99999999999999999999\n",
                         "x.yaml: line 2: the number \"99999999999999999999\" is too large"},
                    Case{"TwoDocuments", "a: 1\n---\nb: 2\n", "x.yaml: it holds more than one document"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace tidemark::io
