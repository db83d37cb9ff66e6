#include "io/value_json.h"

#include <gtest/gtest.h>

#include "support/throws.h"

namespace tidemark::io {
namespace {

std::string refusal_of_json(std::string_view text) {
  const auto error = error_of([&] { value_from_json(text, "x.json"); });
  return error ? error->what() : "no error";
}

TEST(ValueJson, ReadsEachType) {
  const Value value =
      value_from_json(R"({"z": null, "b": true, "i": -3, "r": 1.5, "t": "x", "l": [1, {}], "e": 1e3})", "x");
  EXPECT_EQ(value, Value(Value::Map{{"z", Value()},
                                    {"b", true},
                                    {"i", -3},
                                    {"r", 1.5},
                                    {"t", "x"},
                                    {"l", Value::List{1, Value::Map{}}},
                                    {"e", 1000.0}}));
}

TEST(ValueJson, GivesBackWhatItWrote) {
  const Value value = Value::Map{{"b", Value::List{1, 2.5, "\xc3\xa9", Value()}}, {"a", Value::Map{{"x", false}}}};
  EXPECT_EQ(value_from_json(value_to_json(value), "x"), value);
  EXPECT_EQ(value_to_json(Value("\xff")), "\"\xef\xbf\xbd\"\n");
}

TEST(ValueJson, Refuses) {
  EXPECT_EQ(refusal_of_json("{\n\"a\": 1,\n,}"), "x.json: it is not JSON: mistake in line 3");
  EXPECT_EQ(refusal_of_json(""), "x.json: it is not JSON: mistake in line 1");
  EXPECT_EQ(refusal_of_json("{\"a\": 1, \"a\": 2}"), "x.json: the key \"a\" is given twice");
  EXPECT_EQ(refusal_of_json(std::string(100'000, '[')), "x.json: it is nested too deeply");
  EXPECT_EQ(refusal_of_json("18446744073709551615"), "x.json: the number 18446744073709551615 is too large");
  EXPECT_EQ(refusal_of_json("1e999"), "x.json: it is not JSON that can be read: a number is too large");
}

}  // namespace
}  // namespace tidemark::io
