#include "base/value.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

Value map(Value::Map items) { return items; }

TEST(Value, IsNullWhenNothingWasSaid) { EXPECT_TRUE(Value().is_null()); }

TEST(Value, HoldsWhatItWasGiven) {
  EXPECT_EQ(*Value(true).as_bool(), true);
  EXPECT_EQ(*Value(7).as_integer(), 7);
  EXPECT_EQ(*Value(0.5).as_real(), 0.5);
  EXPECT_EQ(*Value("x").as_text(), "x");
  EXPECT_EQ(Value(Value::List{1, "x"}).as_list()->size(), 2U);
  EXPECT_EQ(Value(7).as_text(), nullptr);
}

TEST(Value, KeepsTheOrderOfKeysAndReplaces) {
  Value value;
  value.set("b", 1);
  value.set("a", 2);
  value.set("b", 3);
  EXPECT_EQ(value, map({{"b", 3}, {"a", 2}}));
  EXPECT_EQ(value.find("c"), nullptr);
  EXPECT_EQ(Value(1).find("c"), nullptr);
}

TEST(Value, ComparesWithoutLines) {
  Value there(1);
  there.at_line(12);
  EXPECT_EQ(there, Value(1));
  EXPECT_EQ(there.line(), 12);
  EXPECT_FALSE(Value(1) == Value(1.0));
}

TEST(Value, QuotesShortly) {
  EXPECT_EQ(Value().quoted(), "null");
  EXPECT_EQ(Value(false).quoted(), "false");
  EXPECT_EQ(Value(1.5).quoted(), "1.5");
  EXPECT_EQ(Value(Value::List{}).quoted(), "a list");
  EXPECT_EQ(Value("x").quoted(), "\"x\"");
  EXPECT_LE(Value(std::string(100, 'x')).quoted().size(), 40U);
  EXPECT_EQ(Value(std::string(34, 'x') + "\xc3\xa9\xc3\xa9\xc3\xa9").quoted(), "\"" + std::string(34, 'x') + "...\"");
}

TEST(Merged, TakesMapsKeyByKey) {
  const Value under = map({{"a", 1}, {"m", map({{"x", 1}, {"y", Value::List{1}}})}});
  const Value over = map({{"m", map({{"y", Value::List{2}}, {"z", 3}})}, {"b", Value()}});
  EXPECT_EQ(merged(under, over),
            map({{"a", 1}, {"m", map({{"x", 1}, {"y", Value::List{2}}, {"z", 3}})}, {"b", Value()}}));
  EXPECT_EQ(merged(1, over), over);
  EXPECT_EQ(merged(under, 1), Value(1));
}

}  // namespace
}  // namespace tidemark
