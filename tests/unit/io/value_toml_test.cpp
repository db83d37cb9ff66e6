#include "io/value_toml.h"

#include <gtest/gtest.h>

#include "support/throws.h"

namespace tidemark::io {
namespace {

TEST(ValueToml, ReadsWhatConfigurationsHave) {
  const Value value = value_from_toml(
      "a = 1\nb = -0.5\nc = true\nd = 'x\\y'\n[e]\nf = [1, \"g\"]\nh = {i = 2}\n[e.j]\nk = 2026-11-25\n", "x");
  EXPECT_EQ(value, Value(Value::Map{{"a", 1},
                                    {"b", -0.5},
                                    {"c", true},
                                    {"d", "x\\y"},
                                    {"e", Value::Map{{"f", Value::List{1, "g"}},
                                                     {"h", Value::Map{{"i", 2}}},
                                                     {"j", Value::Map{{"k", "2026-11-25"}}}}}}));
  EXPECT_EQ(value.find("e")->find("j")->line(), 8);
}

TEST(ValueToml, SaysTheLineOfAMistake) {
  EXPECT_EQ(error_of([] { value_from_toml("a = 1\nb = \n", "x.toml"); })->where(), "x.toml:2");
  EXPECT_EQ(error_of([] { value_from_toml("a = 1\na = 2\n", "x.toml"); })->where(), "x.toml:2");
  EXPECT_EQ(error_of([] { value_from_toml("a = " + std::string(200, '[') + std::string(200, ']'), "x.toml"); })->code(),
            Errc::bad_file);
  std::string deep = "a";
  while (deep.size() < 30'000) deep += ".a";
  EXPECT_EQ(error_of([&] { value_from_toml(deep + " = 1", "x.toml"); })->code(), Errc::bad_file);
  EXPECT_EQ(error_of([&] { value_from_toml(deep + deep, "x.toml"); })->code(), Errc::bad_file);
}

TEST(ValueToml, IsReadAsItWasWritten) {
  const Value value = Value::Map{{"a", Value::Map{{"b", "a \"text\"\n"}, {"c", 1.0}, {"d", Value::List{"x", "y"}}}},
                                 {"e", Value::Map{{"f", false}, {"g", -3}}}};
  EXPECT_EQ(value_from_toml(value_to_toml(value), "x"), value);
}

}  // namespace
}  // namespace tidemark::io
