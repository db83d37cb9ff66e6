#include "io/efficiency_json.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/error.h"

namespace tidemark::io {
namespace {

std::string file(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(std::string(TIDEMARK_SOURCE_DIR) + "/data/" + name).rdbuf();
  return text.str();
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

const char* const kSmall = R"({"schema": "tidemark.efficiency/1", "source": "s",
 "axes": {"m": [64, 128], "n": [64, 128], "k": [64, 128]},
 "general": {"products": {"percent": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]], "source": "p"},
             "memory": {"percent": 80, "source": "m"}, "within_node": {"percent": 70, "seconds": 1e-5, "source": "w"}},
 "rows": [{"cards": ["x"], "memory": {"percent": 90, "source": "m"}}]})";

std::string refusal(const std::string& text) {
  try {
    read_efficiency(text, "e.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::bad_file);
    return error.where() + ": " + error.message();
  }
  return "none";
}

TEST(EfficiencyJson, HasTheGeneralClassWhereARowSaysNothing) {
  const plan::EfficiencyTable table = read_efficiency(kSmall, "e.json");
  EXPECT_EQ(table.of("x").memory, .9);
  EXPECT_FALSE(table.of("x").is_general);
  EXPECT_EQ(table.of("y").memory, .8);
  EXPECT_EQ(table.of("x").within_node.share, .7);
  EXPECT_EQ(table.of("x").sources.at("products"), "p");
}

const char* const kVariant = R"(}, {"cards": ["x-slow"], "variant_of": "x",
 "beside_collectives": {"percent": 60, "source": "b"}}]})";

TEST(EfficiencyJson, HasTheCardWhereAVariantOfItSaysNothing) {
  const plan::EfficiencyTable table = read_efficiency(with(kSmall, "}]}", kVariant), "e.json");
  EXPECT_EQ(table.of("x-slow").memory, .9);
  EXPECT_EQ(table.of("x-slow").beside_collectives, .6);
  EXPECT_EQ(table.of("x").beside_collectives, 1);
  EXPECT_EQ(refusal(with(with(kSmall, "}]}", kVariant), "\"variant_of\": \"x\"", "\"variant_of\": \"y\"")),
            "e.json: rows[1]: variant_of: no row above is of \"y\"");
}

TEST(EfficiencyJson, RefusesWhatCannotBe) {
  EXPECT_EQ(refusal(with(kSmall, "[7, 8]", "[7, 108]")),
            "e.json: general: products: percent[1][1][1]: 108 is not above 0 and at most 100 percent");
  EXPECT_EQ(refusal(with(kSmall, "[[5, 6], [7, 8]]", "[[5, 6]]")),
            "e.json: general: products: percent[1]: expected a list of 2, one for each point of the axis");
  EXPECT_EQ(refusal(with(kSmall, "\"m\": [64, 128]", "\"m\": [64, 32]")),
            "e.json: axes: m: expected ascending numbers above 0");
  EXPECT_EQ(refusal(with(kSmall, "1e-5", "-1")), "e.json: general: within_node: seconds: -1 is not from 0 to 1 second");
  EXPECT_EQ(refusal(with(kSmall, "[\"x\"]", "[\"x\", \"x\"]")), "e.json: rows[0]: cards: the card \"x\" has two rows");
  EXPECT_NE(refusal(with(kSmall, "\"memory\"", "\"memry\"")).find("memry"), std::string::npos);
  EXPECT_NE(refusal(with(kSmall, "efficiency/1", "efficiency/2")), "none");
}

TEST(EfficiencyJson, ThatIsShippedIsRead) {
  plan::EfficiencyTable table = read_efficiency(file("efficiency.json"), "efficiency.json");
  read_step_time_residuals(file("step_time_residuals.json"), "step_time_residuals.json", table);
  for (const char* key : {"a100-80gb", "h100-80gb", "h200", "l40s", "b200"}) {
    const plan::Efficiency& card = table.of(key);
    EXPECT_FALSE(card.is_general) << key;
    const ProductShape large{true, 8192, 8192, 8192};
    const double share = large.flops() / card.products.peak_flops(large);
    EXPECT_GT(share, .4) << key;
    EXPECT_LT(share, 1) << key;
    EXPECT_LE(card.band.low, card.band.high) << key;
  }
  EXPECT_TRUE(table.of("gtx-1080-ti").is_general);
}

TEST(StepTimeResidualsJson, AreTheBandsOfCards) {
  plan::EfficiencyTable table = read_efficiency(kSmall, "e.json");
  const char* const text = R"({"schema": "tidemark.step-time-residuals/1", "source": "s", "cards": [
    {"card": "x", "measured_over_estimated": [0.5, 1, 1, 1, 1, 1, 1, 1, 2, 3]},
    {"card": "z", "measured_over_estimated": [4, 4]}]})";
  read_step_time_residuals(text, "r.json", table);
  EXPECT_EQ(table.of("x").band.low, .5);
  EXPECT_EQ(table.of("x").band.high, 2);
  EXPECT_EQ(table.of("y").band.high, 4);
  EXPECT_THROW(read_step_time_residuals(with(text, "[4, 4]", "[4, 3]"), "r.json", table), Error);
}

}  // namespace
}  // namespace tidemark::io
