#include "io/card_json.h"

#include <gtest/gtest.h>

#include "support/sample_card.h"
#include "support/throws.h"

namespace tidemark::io {
namespace {

TEST(ReadCard, ReadsEveryField) {
  const Card card = read_card(sample_card_text(), "my.json");
  EXPECT_EQ(card.key, "test-24gb");
  EXPECT_EQ(card.name, "NVIDIA Test 24GB");
  EXPECT_EQ(card.compute_capability_major, 8);
  EXPECT_EQ(card.compute_capability_minor, 6);
  EXPECT_EQ(card.total_bytes, 25'769'803'776);
  EXPECT_EQ(card.context_bytes.low, 200'000'000);
  EXPECT_EQ(card.context_bytes.typical, 300'000'000);
  EXPECT_EQ(card.memory_clock_khz, 9'751'000);
  EXPECT_EQ(card.link.kind, "pcie");
  EXPECT_EQ(card.sources.at("total_bytes"), "made up");
}

TEST(ReadCard, ComesBackFromItsOwnText) {
  const Card card = read_card(sample_card_text(), "my.json");
  const std::string text = write_card(card);
  EXPECT_EQ(write_card(read_card(text, "again.json")), text);
}

TEST(ReadCard, TakesOneNumberForTheContext) {
  const Card card = read_card(
      with(sample_card_text(), R"({"low": 200000000, "high": 400000000, "typical": 300000000})", "5"), "my.json");
  EXPECT_EQ(card.context_bytes.low, 5);
  EXPECT_EQ(card.context_bytes.high, 5);
}

TEST(ReadCard, LeavesOutWhatAnOwnCardNeedsNot) {
  std::string text = with(sample_card_text(), R"("key": "test-24gb", "aliases": ["test"],)", "");
  text = with(text, R"(, "sources": {"total_bytes": "made up"})", "");
  EXPECT_EQ(read_card(text, "my.json").key, "NVIDIA Test 24GB");
}

struct BadCard {
  const char* name;
  const char *from, *to;
  const char* says;
};

class ReadCardRefuses : public testing::TestWithParam<BadCard> {};

TEST_P(ReadCardRefuses, AndNamesThePlace) {
  const auto error = error_of([] { read_card(with(sample_card_text(), GetParam().from, GetParam().to), "my.json"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::bad_file);
  EXPECT_NE(std::string(error->what()).find(GetParam().says), std::string::npos) << error->what();
  EXPECT_EQ(error->where().find("my.json"), 0U) << error->where();
}

INSTANTIATE_TEST_SUITE_P(
    Cards, ReadCardRefuses,
    testing::Values(
        BadCard{"missing", R"("l2_bytes": 6291456,)", "", "\"l2_bytes\" is missing"},
        BadCard{"misspelt", R"("l2_bytes")", R"("l2_byte")", "there is \"l2_byte\""},
        BadCard{"unknown", R"("l2_bytes")", R"("weight": 1, "l2_bytes")", "\"weight\" is not a known key"},
        BadCard{"nearly_known", R"("clock_khz")", R"("clock_kh": 1, "clock_khz")", "did you mean clock_khz?"},
        BadCard{"text_for_number", "6291456", R"("6 MB")", "expected a whole number, found \"6 MB\""},
        BadCard{"negative", "6291456", "-1", "expected a whole number, found -1"},
        BadCard{"fraction", "6291456", "1.5", "expected a whole number, found 1.5"},
        BadCard{"too_large", "6291456", "18446744073709551615", "expected a whole number"},
        BadCard{"no_bytes", "25769803776", "0", "must not be 0"},
        BadCard{"capability", "[8, 6]", "[8]", "[major, minor]"},
        BadCard{"context_order", R"("low": 200000000)", R"("low": 500000000)", "low <= typical <= high"},
        BadCard{"context_too_large", R"("high": 400000000)", R"("high": 99999999999)", "more than \"total_bytes\""},
        BadCard{"aliases", R"(["test"])", R"("test")", "a list of texts"},
        BadCard{"not_json", R"("key")", "key", "mistake in line 2"},
        BadCard{"two_lines", "NVIDIA Test", "NVIDIA\\nTest", "one line"}),
    [](const auto& test) { return test.param.name; });

TEST(ReadCatalogue, NamesTheElement) {
  const std::string text = R"({"schema": "tidemark.gpus/1", "cards": [)" + sample_card_text() + ", {}]}";
  const auto error = error_of([&] { read_catalogue(text, "gpus.json"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->where(), "gpus.json: cards[1]");
}

TEST(ReadCatalogue, WantsUniqueNames) {
  const std::string second = with(sample_card_text(), R"("key": "test-24gb")", R"("key": "TEST")");
  const auto error = error_of([&] { read_catalogue("[" + sample_card_text() + "," + second + "]", "gpus.json"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message(), "the name \"TEST\" is given twice");
}

class FindCard : public testing::Test {
 protected:
  Catalogue catalogue_ = read_catalogue("[" + sample_card_text() + "]", "gpus.json");
};

TEST_F(FindCard, IgnoresCaseAndDashes) {
  for (const char* name : {"test-24gb", "TEST 24GB", "test_24GB", "Test-24G", "test", "NVIDIA Test 24GB"})
    EXPECT_EQ(find_card(catalogue_, name).key, "test-24gb") << name;
}

TEST_F(FindCard, NamesTheNearest) {
  const auto error = error_of([&] { find_card(catalogue_, "test-24gx"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::unknown_name);
  EXPECT_NE(error->hint().find("did you mean test-24gb?"), std::string::npos);
}

TEST(WriteCardProperties, IsOneKeyPerLine) {
  const std::string text = write_card_properties(read_card(sample_card_text(), "my.json"));
  EXPECT_NE(text.find("name=NVIDIA Test 24GB\n"), std::string::npos);
  EXPECT_NE(text.find("compute_capability_major=8\ncompute_capability_minor=6\n"), std::string::npos);
  EXPECT_NE(text.find("\ncontext_bytes=300000000\n"), std::string::npos);
  EXPECT_NE(text.find("\ntotal_bytes=25769803776\n"), std::string::npos);
  EXPECT_NE(text.find("\nbf16_flops=71000000000000\nfp16_flops=71000000000000\nfp32_flops=35600000000000\n"),
            std::string::npos);
}

}  // namespace
}  // namespace tidemark::io
