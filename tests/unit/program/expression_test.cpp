#include "program/expression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "program/routed.h"
#include "support/throws.h"

namespace tidemark {
namespace {

const std::vector<std::string> kSymbols{"B", "S", "text_config.heads"};

std::int64_t value_of(std::string_view text) {
  const std::vector<std::int64_t> values{2, 7, 4};
  return Expression::parse(text, kSymbols, "a.program:3")(values);
}

TEST(Expression, IsWholeNumberArithmeticAsInPython) {
  EXPECT_EQ(value_of("12"), 12);
  EXPECT_EQ(value_of("B*S + 1"), 15);
  EXPECT_EQ(value_of("1 + B*(S - 3)"), 9);
  EXPECT_EQ(value_of("-1 + text_config.heads"), 3);
  EXPECT_EQ(value_of("-S//2"), -4);
  EXPECT_EQ(value_of("-S % 4"), 1);
  EXPECT_EQ(value_of("ceildiv(S, 2)"), 4);
  EXPECT_EQ(value_of("ceildiv(-S, 2)"), -3);
  EXPECT_EQ(value_of("min(S, max(B, 5))"), 5);
}

/// Of 7 tokens two experts each, of five.
std::vector<std::int64_t> tokens_of_experts(double skew) {
  const std::vector<std::string> symbols{"S", "skew"};
  const std::vector<std::int64_t> values{7, std::llround(skew * static_cast<double>(kSkewOfAll))};
  const auto number = [&](const std::string& text) { return Expression::parse(text, symbols, "")(values); };
  std::vector<std::int64_t> tokens;
  for (std::int64_t i = 0; i < number("hit(S, 2, 5)"); ++i)
    tokens.push_back(number("routed(S, 2, 5, " + std::to_string(i) + ")"));
  return tokens;
}

TEST(Expression, CountsTheTokensOfEachExpertThatAnyChooses) {
  EXPECT_EQ(tokens_of_experts(0), (std::vector<std::int64_t>{3, 3, 3, 3, 2}));
  EXPECT_EQ(tokens_of_experts(1), (std::vector<std::int64_t>{7, 7}));
  // The first 4 tokens choose the first two; of 14 places in turn, the last 6 are left: 3, 4, 0, 1, 2, 3.
  EXPECT_EQ(tokens_of_experts(0.5), (std::vector<std::int64_t>{5, 5, 1, 2, 1}));
  EXPECT_EQ(value_of("hit(B, 2, 9)"), 4);
  EXPECT_EQ(value_of("hit(S, 1, text_config.heads)"), 4);
  EXPECT_EQ(error_of([] { value_of("routed(B, 2, 9, 4)"); })->message(),
            "fewer experts are chosen than the program goes through");
  EXPECT_EQ(error_of([] { value_of("hit(B, 2, 0)"); })->message(), "the program has no such experts");
  EXPECT_EQ(error_of([] { value_of("routed(9223372036854775807, 2, 9, 0)"); })->code(), Errc::bad_value);
  EXPECT_EQ(error_of([] { value_of("routed(B, 2, 9)"); })->message(),
            "\",\" is missing in the number \"routed(B, 2, 9)\"");
}

TEST(Expression, MayNotBeTold) {
  const Expression size = Expression::parse("?", kSymbols, "");
  EXPECT_FALSE(size.is_told());
  EXPECT_TRUE(Expression(3).is_told());
  EXPECT_EQ(error_of([&] { size(std::vector<std::int64_t>{}); })->message(),
            "a size is asked for that the program does not tell");
  EXPECT_EQ(error_of([] { value_of("? + 1"); })->code(), Errc::bad_file);
}

TEST(Expression, KnowsWhenItIsOneSymbol) {
  EXPECT_EQ(Expression::parse("S", kSymbols, "").as_symbol(), 1U);
  EXPECT_FALSE(Expression::parse("S + 0", kSymbols, "").as_symbol());
  EXPECT_FALSE(Expression(3).as_symbol());
}

TEST(Expression, SaysWhatIsWrongAndWhere) {
  const Error unknown = *error_of([] { value_of("B*text_config.head"); });
  EXPECT_EQ(unknown.message(), "no symbol text_config.head in the number \"B*text_config.head\"");
  EXPECT_EQ(unknown.where(), "a.program:3");
  EXPECT_EQ(unknown.hint(), "did you mean text_config.heads?");
  EXPECT_EQ(error_of([] { value_of("B*"); })->message(), "something is missing in the number \"B*\"");
  EXPECT_EQ(error_of([] { value_of("(B"); })->message(), "\")\" is missing in the number \"(B\"");
  EXPECT_EQ(error_of([] { value_of("B S"); })->message(), "\"S\" is not understood in the number \"B S\"");
  EXPECT_EQ(error_of([] { value_of("99999999999999999999"); })->code(), Errc::bad_file);
  EXPECT_EQ(error_of([] { value_of(std::string(300, '(')); })->message().substr(0, 17), "too many brackets");
}

TEST(Expression, RefusesWhatHasNoValue) {
  EXPECT_EQ(error_of([] { value_of("B // (S - 7)"); })->code(), Errc::bad_value);
  EXPECT_EQ(error_of([] { value_of("9223372036854775807 + B"); })->message(), "a size of the program is past 2^63");
}

}  // namespace
}  // namespace tidemark
