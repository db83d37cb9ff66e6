#include "plan/varied.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/throws.h"

namespace tidemark::vary {
namespace {

using Words = std::vector<std::string>;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ReadVaried, Ranges) {
  EXPECT_THAT(read_varied("batch=1..4").values, ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(read_varied("seq=512..2048:512").values, ElementsAre("512", "1024", "1536", "2048"));
  EXPECT_THAT(read_varied("seq=500..2000:600").values, ElementsAre("500", "1100", "1700"));
  EXPECT_THAT(read_varied("b=1..64*4").values, ElementsAre("1", "4", "16", "64"));
  EXPECT_THAT(read_varied("b=3..20*2").values, ElementsAre("3", "6", "12"));
  EXPECT_THAT(read_varied("b=7..7").values, ElementsAre("7"));
  EXPECT_THAT(read_varied("b=9223372036854775806..9223372036854775807").values, testing::SizeIs(2));
  EXPECT_THAT(read_varied("b=1..9223372036854775807*3").values, testing::SizeIs(40));
  EXPECT_THAT(read_varied("b=2..6:2").sizes, ElementsAre(2, 4, 6));
}

TEST(ReadVaried, ListsStandInTheOrderOfTheirMemory) {
  EXPECT_THAT(read_varied("batch=1,2,8").sizes, ElementsAre(1, 2, 8));
  EXPECT_THAT(read_varied("lr=1e-5,3e-4").sizes, ElementsAre(1e-5, 3e-4));
  EXPECT_THAT(read_varied("accumulate=8,4,1").values, ElementsAre("8", "4", "1"));
  EXPECT_THAT(read_varied("accumulate=8,4,1").sizes, ElementsAre(1, 2, 3));
  EXPECT_THAT(read_varied("dtype=bf16,fp32").sizes, ElementsAre(1, 2));
}

struct Wrong {
  const char *text, *message;
};

void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.text; }

class ReadVariedRefuses : public testing::TestWithParam<Wrong> {};

TEST_P(ReadVariedRefuses, WithAReason) {
  const auto error = error_of([] { read_varied(GetParam().text); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::bad_value);
  EXPECT_EQ(error->where(), "--vary");
  EXPECT_THAT(error->message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    , ReadVariedRefuses,
    testing::Values(Wrong{"batch", "\"batch\" is not NAME=VALUES"}, Wrong{"", "is not NAME=VALUES"},
                    Wrong{"=1..2", "is not NAME=VALUES"}, Wrong{"1b=1..2", "is not NAME=VALUES"},
                    Wrong{"b=", "a value is missing"}, Wrong{"b=1,,2", "a value is missing"},
                    Wrong{"b=64..1", "there is no value from 64 to 1"}, Wrong{"b=..4", "\"\" is not a whole number"},
                    Wrong{"b=1..", "\"\" is not a whole number"}, Wrong{"b=-1..4", "\"-1\" is not a whole number"},
                    Wrong{"b=1..4.5", "\"4.5\" is not"}, Wrong{"b=1..4:0", "0 is not a step from 1"},
                    Wrong{"b=1..4*1", "1 is not a factor from 2"}, Wrong{"b=0..4*2", "factors of 0 are 0"},
                    Wrong{"b=1..4:x", "\"x\" is not"}, Wrong{"b=1..4,8", "either a range or a list"},
                    Wrong{"b=1..4:2*2", "\"2*2\" is not"}, Wrong{"b=1..99999999999999999999", "is not a whole number"},
                    Wrong{"b=1..5000000", "more than 1000000 values"}, Wrong{"b=1,2,1", "1 is there twice"},
                    Wrong{"b=1,4,2", "neither rise nor fall"}));

TEST(ReadVaried, NamesThatContradictOrAreTooMany) {
  EXPECT_THAT(error_of([] { read_all_varied({"b=1..2", "b=3,4"}); })->message(), HasSubstr("b: it is varied twice"));
  EXPECT_THAT(error_of([] { read_all_varied({}); })->message(), HasSubstr("nothing is varied"));
  EXPECT_THAT(error_of([] { read_all_varied({"a=1..5000", "b=1..5000"}); })->message(), HasSubstr("more than 4096"));
  EXPECT_EQ(read_all_varied({"a=1..100000", "b=1..64", "c=1..64"}).size(), 3);
}

TEST(FilledIn, ReplacesNamesAndNothingElse) {
  const auto varied = read_all_varied({"batch=1..64", "seq=512..8192:512"});
  const Words command{
      "python",     "train.py", "--batch={batch}", "{seq}x{batch}", "{\"a\":{\"b\":{batch}}}", "{output}", "{{batch}}",
      "{{output}}", "{",        "{batch"};
  EXPECT_THAT(filled_in(command, varied, {7, 1}),
              ElementsAre("python", "train.py", "--batch=8", "1024x8", "{\"a\":{\"b\":8}}", "{output}", "{batch}",
                          "{{output}}", "{", "{batch"));
  EXPECT_EQ(text_of(varied, {7, 1}), "batch=8 seq=1024");
}

TEST(CheckPlaces, EveryNameStandsInTheCommand) {
  const auto varied = read_all_varied({"batch=1..64", "lr=1e-4,1e-3"});
  EXPECT_FALSE(error_of([&] { check_places({"x", "{batch}", "{lr}", "{other}", "{x}"}, varied); }));
  EXPECT_THAT(error_of([&] { check_places({"x", "{lr}"}, varied); })->message(), HasSubstr("{batch} is nowhere"));
  EXPECT_THAT(error_of([&] { check_places({"x", "{{batch}}", "{lr}"}, varied); })->message(),
              HasSubstr("{batch} is nowhere"));
  const auto error = error_of([&] { check_places({"x", "{batch}", "{lr}", "{bacth}"}, varied); });
  EXPECT_EQ(error->message(), "{bacth} is not varied");
  EXPECT_EQ(error->hint(), "did you mean {batch}? {{bacth}} stands for {bacth} itself");
  EXPECT_THAT(filled_in({"{{bacth}}"}, varied, {0, 0}), ElementsAre("{bacth}"));
}

}  // namespace
}  // namespace tidemark::vary
