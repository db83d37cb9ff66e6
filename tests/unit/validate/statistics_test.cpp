#include "validate/statistics.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

Scored pair(std::int64_t measured, std::int64_t predicted) {
  return {.measured_bytes = measured,
          .out_of_memory = false,
          .predicted_bytes = predicted,
          .limit_bytes = predicted,
          .card_bytes = 10'000,
          .limits_the_device = true};
}

Scored out_of_memory(bool foretold) {
  return {.out_of_memory = true,
          .predicted_bytes = 9'000,
          .predicted_out_of_memory = foretold,
          .card_bytes = 10'000,
          .limits_the_device = true};
}

TEST(SignedError, IsRelativeToWhatWasMeasured) {
  EXPECT_DOUBLE_EQ(*signed_error(pair(1000, 1100)), 0.1);
  EXPECT_DOUBLE_EQ(*signed_error(pair(1000, 900)), -0.1);
}

TEST(SignedError, IsNoneWithinTheRounding) {
  Scored one = pair(1000, 1010);
  one.rounding_bytes = 10;
  EXPECT_EQ(*signed_error(one), 0.0);
  one.predicted_bytes = 1011;
  EXPECT_DOUBLE_EQ(*signed_error(one), 0.011);
}

TEST(SignedError, IsNotKnownOfARunThatWasCutShort) {
  Scored one = pair(1000, 1100);
  one.out_of_memory = true;
  EXPECT_FALSE(signed_error(one));
  one = pair(1000, 1100);
  one.measured_bytes.reset();
  EXPECT_FALSE(signed_error(one));
}

TEST(Statistics, AreThoseComputedByHand) {
  // Errors: +10 %, -20 %, 0, +40 %.
  const Statistics s = statistics_of({pair(1000, 1100), pair(1000, 800), pair(500, 500), pair(100, 140)});
  EXPECT_EQ(s.n, 4);
  EXPECT_DOUBLE_EQ(*s.mape, 0.175);
  EXPECT_DOUBLE_EQ(*s.median, 0.15);
  EXPECT_DOUBLE_EQ(*s.p90, 0.4);
  EXPECT_DOUBLE_EQ(*s.max, 0.4);
  EXPECT_DOUBLE_EQ(*s.signed_mean, 0.075);
  EXPECT_EQ(s.under_predictions, 1);
}

TEST(Statistics, P90IsTheNearestRank) {
  std::vector<Scored> all;
  for (std::int64_t i = 1; i <= 10; ++i) all.push_back(pair(100, 100 + i));
  EXPECT_DOUBLE_EQ(*statistics_of(all).p90, 0.09);  // the 9th of 10
  all.push_back(pair(100, 111));
  EXPECT_DOUBLE_EQ(*statistics_of(all).p90, 0.10);  // ceil(9.9) = the 10th of 11
}

TEST(Statistics, MarginsAreSignedAndOfThePrediction) {
  std::vector<Scored> all;
  for (std::int64_t i = 1; i <= 100; ++i) all.push_back(pair(100 + i, 100));  // 1 % to 100 % too little
  const Statistics s = statistics_of(all);
  EXPECT_NEAR(*s.margin_p50, 0.5, 1e-12);
  EXPECT_NEAR(*s.margin_p90, 0.9, 1e-12);
  EXPECT_NEAR(*s.margin_p99, 0.99, 1e-12);
  all.pop_back();
  EXPECT_FALSE(statistics_of(all).margin_p99);  // none of 99 rows is above it
  EXPECT_NEAR(*statistics_of({pair(80, 100), pair(80, 100)}).margin_p50, -0.2, 1e-12);
}

TEST(Statistics, OfNothingAreNotZero) {
  const Statistics s = statistics_of({});
  EXPECT_EQ(s.value(Statistic::n), 0.0);
  for (const Statistic one : {Statistic::median, Statistic::oom_agreement, Statistic::pef, Statistic::mcp_bytes,
                              Statistic::false_refusals, Statistic::under_predictions})
    EXPECT_FALSE(s.value(one));
}

TEST(Statistics, CountVerdicts) {
  Scored refused = pair(1000, 9'900);
  refused.predicted_out_of_memory = true;
  Scored not_known = pair(1000, 1000);
  not_known.out_of_memory.reset();
  const Statistics s = statistics_of({out_of_memory(true), out_of_memory(false), refused, pair(1000, 1000), not_known});
  EXPECT_EQ(s.verdicts, 4);
  EXPECT_EQ(s.missed_ooms, 1);
  EXPECT_EQ(s.false_refusals, 1);
  EXPECT_DOUBLE_EQ(*s.oom_agreement, 0.5);
}

TEST(SecondRound, HasALimitInWholePercentOfTheCard) {
  EXPECT_EQ(second_round(pair(1000, 1000)), SecondRound::survived);
  EXPECT_EQ(second_round(pair(1000, 960)), SecondRound::survived);   // 9.6 % are set as 10 %
  EXPECT_EQ(second_round(pair(1000, 940)), SecondRound::not_known);  // 9.4 % as 9 %: it may give cached memory back
}

TEST(SecondRound, LimitsWhatWasInUseBeforeToo) {
  Scored one = pair(1000, 1000);
  one.in_use_at_start_bytes = 300;
  EXPECT_EQ(second_round(one), SecondRound::not_known);
  one.limit_bytes = 1300;
  EXPECT_EQ(second_round(one), SecondRound::survived);
}

TEST(SecondRound, IsDecidedByRealOnesWhereTheyWere) {
  Scored one = pair(1000, 940);
  one.survived_under_bytes = 900;  // a lower limit was survived
  EXPECT_EQ(second_round(one), SecondRound::survived);
  one.died_under_bytes = 900;  // both were seen under the same limit: the worse counts
  EXPECT_EQ(second_round(one), SecondRound::died);
  one.survived = true;  // it was tried itself
  EXPECT_EQ(second_round(one), SecondRound::survived);
  one = pair(1000, 1000);
  one.died_under_bytes = 1000;  // it died under what had been enough without a limit
  EXPECT_EQ(second_round(one), SecondRound::died);
}

TEST(Statistics, HaveXMemsTwoFigures) {
  Scored refused = pair(1000, 9'900);
  refused.predicted_out_of_memory = true;
  // Saved: 10,000 - 2,000; the whole card; nothing, since nobody knows whether it survives its own limit; minus the
  // card, since it was refused.
  const Statistics s = statistics_of({pair(1000, 2000), out_of_memory(true), pair(5000, 4000), refused});
  EXPECT_EQ(s.judged, 4);
  EXPECT_EQ(s.not_known, 1);
  EXPECT_DOUBLE_EQ(*s.pef, 0.5);
  EXPECT_DOUBLE_EQ(*s.mcp_bytes, (8'000 + 10'000 + 0 - 10'000) / 4.0);
}

TEST(Statistics, JudgeNoMetricThatLimitsNothing) {
  Scored allocated = pair(1000, 1000);
  allocated.limits_the_device = false;
  EXPECT_FALSE(statistics_of({allocated}).pef);
  EXPECT_TRUE(statistics_of({allocated}).median);
}

}  // namespace
}  // namespace tidemark
