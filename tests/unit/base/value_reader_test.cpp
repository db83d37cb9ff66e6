#include "base/value_reader.h"

#include <gtest/gtest.h>

#include "support/throws.h"

namespace tidemark {
namespace {

Value sample() {
  Value inner = Value::Map{{"hidden_size", "x"}, {"layers", 2}};
  return Value::Map{{"text_config", inner}, {"rate", 1}, {"tied", true}, {"names", Value::List{"a"}}, {"_x", 1}};
}

TEST(ValueReader, ReadsEachType) {
  const Value value = sample();
  ValueReader reader(value, {"config.json", {}});
  EXPECT_EQ(reader.real("rate"), 1.0);
  EXPECT_TRUE(reader.boolean("tied"));
  EXPECT_EQ(reader.list("names").size(), 1U);
  EXPECT_EQ(reader.map("text_config").integer("layers"), 2);
  EXPECT_EQ(reader.find("absent"), nullptr);
  EXPECT_EQ(reader.unread(), std::vector<std::string>{"_x"});
  EXPECT_NO_THROW(reader.finish({"_*"}));
}

TEST(ValueReader, NamesThePathOfAWrongType) {
  const Value value = sample();
  const auto error =
      error_of([&] { ValueReader(value, {"config.json", {}}).map("text_config").integer("hidden_size"); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "config.json: text_config.hidden_size: expected a whole number, found \"x\"");
}

TEST(ValueReader, NamesAKeyThatIsNearlyTheMissingOne) {
  const Value value = sample();
  const auto error = error_of([&] { ValueReader(value, {{}, {}}).integer("txt_config"); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "\"txt_config\" is missing (there is \"text_config\")");
}

TEST(ValueReader, RefusesAKeyThatNobodyTook) {
  const Value value = sample();
  ValueReader reader(value, {"config.json", {}});
  for (const char* key : {"text_config", "rate", "tied", "name"}) reader.find(key);
  const auto error = error_of([&] { reader.finish({"_x"}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::unknown_name);
  EXPECT_STREQ(error->what(), "config.json: \"names\" is not a known key (did you mean name?)");
}

TEST(ValueReader, SaysTheLine) {
  Value value = Value::Map{{"seq", Value("x").at_line(3)}};
  const auto error = error_of([&] { ValueReader(value, {"spec.yaml", {}}).integer("seq"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->where(), "spec.yaml: line 3: seq");
}

TEST(ValueReader, AsksForQuotesAroundANumber) {
  const auto error = error_of([] { to_text(2.11, {{}, "torch"}); });
  ASSERT_TRUE(error);
  EXPECT_STREQ(error->what(), "torch: expected a text, found the number 2.11 (write it in quotes)");
}

}  // namespace
}  // namespace tidemark
