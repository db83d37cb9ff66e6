#include "estimate/margin.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/sample_report.h"
#include "support/throws.h"

namespace tidemark {
namespace {

/// 1 % to n %.
Residuals rows(const char* modality, int n) {
  Residuals group{modality, {}};
  for (int i = 1; i <= n; ++i) group.shares.push_back(i / 100.0);
  return group;
}

TEST(Margin, IsTheNearestRankOfItsModality) {
  Report report = sample_report();
  const std::int64_t peak = report.peak.device_bytes;
  add_margin(report, {rows("text", 10), rows("vision", 30)}, "p90", "text");
  ASSERT_TRUE(report.margin);
  EXPECT_EQ(report.margin->of, "text");
  EXPECT_EQ(report.margin->residuals, 10);
  EXPECT_DOUBLE_EQ(report.margin->share, 0.09);
  EXPECT_EQ(report.margin->bytes, std::llround(0.09 * static_cast<double>(peak)));
  EXPECT_EQ(report.peak.device_bytes, peak);
  EXPECT_EQ(report.verdict, "fits: peak 61.6 GiB of 80.0 GiB with a margin of 5.55 GiB, 12.8 GiB free");
}

TEST(Margin, TakesAllRowsWhereThoseOfTheModalityAreFew) {
  Report report = sample_report();
  add_margin(report, {rows("text", 9), rows("vision", 30)}, "p90", "text");
  EXPECT_EQ(report.margin->of, "all");
  EXPECT_EQ(report.margin->residuals, 39);
  add_margin(report, {rows("text", 9), rows("vision", 30)}, "p50", "");
  EXPECT_EQ(report.margin->of, "all");
}

TEST(Margin, DecidesTheVerdict) {
  Report report = sample_report();
  report.card.total_bytes = report.peak.device_bytes + kGiB;
  add_margin(report, {rows("text", 10)}, "p10", "text");
  EXPECT_EQ(report.fits, true);
  add_margin(report, {rows("text", 10)}, "p90", "text");
  EXPECT_EQ(report.fits, false);
}

TEST(Margin, KeepsNothingFreeWherePredictionsAreHigh) {
  Report report = sample_report();
  add_margin(report, {{"text", std::vector<double>(10, -0.02)}}, "p90", "text");
  EXPECT_EQ(report.margin->bytes, 0);
  EXPECT_DOUBLE_EQ(report.margin->share, -0.02);
}

TEST(Margin, RefusesAQuantileThatNoRowIsAbove) {
  Report report = sample_report();
  const auto error = error_of([&] { add_margin(report, {rows("text", 99)}, "p99", "text"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), Errc::unsupported);
}

TEST(Margin, ReadsQuantilesAlone) {
  EXPECT_EQ(parse_quantile("p1"), 1);
  EXPECT_EQ(parse_quantile("p99"), 99);
  for (const char* text : {"", "p", "90", "p0", "p100", "p9.5", "p90 ", "P90", "10%"})
    EXPECT_TRUE(error_of([&] { parse_quantile(text); })) << text;
}

}  // namespace
}  // namespace tidemark
