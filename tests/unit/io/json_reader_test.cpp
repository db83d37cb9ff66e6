#include "io/json_reader.h"

#include <gtest/gtest.h>

#include "support/throws.h"

namespace tidemark::io {
namespace {

TEST(ParseJson, NamesTheLineOfAMistake) {
  const auto error = error_of([] { parse_json("{\n\"a\": 1,\n,}", "x.json"); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "x.json: it is not JSON: mistake in line 3");
}

TEST(ParseJson, RefusesDeepNesting) {
  const auto error = error_of([] { parse_json(std::string(100'000, '['), "x.json"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message(), "it is nested too deeply");
}

TEST(ObjectReader, WantsAnObject) {
  const Json json = parse_json("[1]", "x.json");
  const auto error = error_of([&] { ObjectReader(json, "x.json"); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "x.json: expected an object, found a list");
}

TEST(ObjectReader, ReadsEachType) {
  const Json json = parse_json(R"({"t": "x", "n": 3, "r": 1.5, "b": true, "a": [1], "o": {"n": 1}, "z": null})", "x");
  ObjectReader reader(json, "x");
  EXPECT_EQ(reader.text("t"), "x");
  EXPECT_EQ(reader.number("n"), 3);
  EXPECT_EQ(reader.real("r"), 1.5);
  EXPECT_TRUE(reader.boolean("b"));
  EXPECT_EQ(reader.array("a").size(), 1U);
  EXPECT_EQ(reader.object("o").number("n"), 1);
  EXPECT_EQ(reader.optional("z"), nullptr);
  EXPECT_EQ(reader.optional("absent"), nullptr);
  EXPECT_NO_THROW(reader.finish());
}

TEST(ObjectReader, NamesThePathOfAWrongType) {
  const Json json = parse_json(R"({"o": {"n": [1, 2]}})", "x");
  ObjectReader reader(json, "x");
  const auto error = error_of([&] { reader.object("o").number("n"); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "x: o: n: expected a whole number, found a list");
}

TEST(ObjectReader, ShortensWhatItQuotes) {
  const Json json = Json{{"n", std::string(1000, 'a')}};
  ObjectReader reader(json, "x");
  const auto error = error_of([&] { reader.number("n"); });
  ASSERT_TRUE(error);
  EXPECT_LT(error->message().size(), 100U);
}

}  // namespace
}  // namespace tidemark::io
