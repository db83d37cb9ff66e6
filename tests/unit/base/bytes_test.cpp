#include "base/bytes.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/throws.h"

namespace tidemark {
namespace {

TEST(FormatBytes, ThreeSignificantDigits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(2LL << 30), "2.00 GiB");
  EXPECT_EQ(format_bytes(65'823'318'016), "61.3 GiB");
  EXPECT_EQ(format_bytes(141LL << 30), "141 GiB");
  EXPECT_EQ(format_bytes(-(5LL << 20)), "-5.00 MiB");
}

TEST(FormatBytes, GoesToTheNextUnitInsteadOfPrinting1024) {
  EXPECT_EQ(format_bytes((1LL << 20) - 1), "1.00 MiB");
  EXPECT_EQ(format_bytes((1LL << 30) - 1), "1.00 GiB");
}

TEST(FormatBytes, RoundsWithoutGrowingADigit) {
  EXPECT_EQ(format_bytes(10'240 - 1), "10.0 KiB");  // not 10.00
  EXPECT_EQ(format_bytes(102'400 - 1), "100 KiB");  // not 100.0
}

TEST(FormatBytes, HoldsTheExtremes) {
  EXPECT_EQ(format_bytes(INT64_MAX), "8.00 EiB");
  EXPECT_EQ(format_bytes(INT64_MIN), "-8.00 EiB");
}

TEST(FormatBytesSigned, PutsASignInFront) {
  EXPECT_EQ(format_bytes_signed(1024), "+1.00 KiB");
  EXPECT_EQ(format_bytes_signed(-1024), "-1.00 KiB");
  EXPECT_EQ(format_bytes_signed(1024, false), "1.00 KiB");
}

TEST(GroupDigits, SeparatesThousands) {
  EXPECT_EQ(group_digits(0), "0");
  EXPECT_EQ(group_digits(999), "999");
  EXPECT_EQ(group_digits(1'000), "1,000");
  EXPECT_EQ(group_digits(65'823'318'016), "65,823,318,016");
  EXPECT_EQ(group_digits(-123'456), "-123,456");
}

TEST(ParseBytes, ReadsUnitsOfBothKinds) {
  EXPECT_EQ(parse_bytes("400GB"), 400'000'000'000);
  EXPECT_EQ(parse_bytes("80GiB"), 80LL << 30);
  EXPECT_EQ(parse_bytes(" 80 gib "), 80LL << 30);
  EXPECT_EQ(parse_bytes("512"), 512);
  EXPECT_EQ(parse_bytes("512 B"), 512);
  EXPECT_EQ(parse_bytes("1.5 KiB"), 1536);
  EXPECT_EQ(parse_bytes("61.3 GiB"), 65'820'373'811);  // 61.3 * 2^30 = 65820373811.2
  EXPECT_EQ(parse_bytes(".5KB"), 500);
  EXPECT_EQ(parse_bytes("1.4 B"), 1);  // rounded to the nearest byte
}

TEST(ParseBytes, IsExactWhereADoubleIsNot) {
  EXPECT_EQ(parse_bytes("9007199254740993"), 9'007'199'254'740'993);  // 2^53 + 1
}

struct BadSize {
  const char* text;
  const char* says;
};

class ParseBytesRefuses : public testing::TestWithParam<BadSize> {};

TEST_P(ParseBytesRefuses, AndSaysWhy) {
  const auto error = error_of([] { parse_bytes(GetParam().text); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::bad_value);
  EXPECT_NE(error->message().find(GetParam().says), std::string::npos) << error->message();
  EXPECT_NE(error->hint().find("80GiB"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ParseBytesRefuses,
                         testing::Values(BadSize{"", "does not begin with a number"}, BadSize{"big", "does not begin"},
                                         BadSize{".", "does not begin"}, BadSize{"-5GB", "negative"},
                                         BadSize{"80G", "80G\" is not a size: G could mean GB or GiB"},
                                         BadSize{"80 XiB", "\"XiB\" is not a unit"}, BadSize{"80GBs", "not a unit"},
                                         BadSize{"1.2.3GB", "not a unit"}, BadSize{"1e9", "not a unit"},
                                         BadSize{"99999 PiB", "larger than any memory"},
                                         BadSize{"9223372036854775808", "18 digits"}));

TEST(CheckedArithmetic, ThrowsInsteadOfWrapping) {
  EXPECT_EQ(checked_add(2, 3), 5);
  EXPECT_EQ(checked_multiply(1LL << 31, 1LL << 31), 1LL << 62);
  EXPECT_THROW(checked_add(INT64_MAX, 1), Error);
  EXPECT_THROW(checked_multiply(1LL << 32, 1LL << 32), Error);
}

}  // namespace
}  // namespace tidemark
