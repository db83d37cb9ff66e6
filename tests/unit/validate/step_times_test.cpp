#include "validate/step_times.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tidemark {
namespace {

TimedRow row(double seconds, const std::string& among = {}) {
  TimedRow row;
  row.seconds = seconds;
  row.ranked_among = among;
  row.gpu = "t4";
  return row;
}

TEST(StepTimes, HaveErrorsAndASignedMean) {
  const TimedRow a = row(10), b = row(10), c = row(10);
  const TimeStatistics s = time_statistics({{&a, 9}, {&b, 12}, {&c, 10}});
  EXPECT_EQ(s.n, 3);
  EXPECT_NEAR(*s.median, .1, 1e-12);
  EXPECT_NEAR(*s.p90, .2, 1e-12);
  EXPECT_NEAR(*s.signed_mean, .1 / 3, 1e-12);
  EXPECT_FALSE(s.kendall_tau);
}

TEST(StepTimes, AreRankedAmongWaysOfTheSameTraining) {
  const TimedRow a = row(1, "x"), b = row(2, "x"), c = row(3, "x"), d = row(9, "y"), e = row(9, "y");
  const TimeStatistics s = time_statistics({{&a, 1}, {&b, 5}, {&c, 4}, {&d, 1}, {&e, 2}});
  EXPECT_EQ(s.pairs, 3);  // d and e took the same
  EXPECT_NEAR(*s.kendall_tau, 1.0 / 3, 1e-12);
}

TEST(StepTimes, ThatAreRankedAloneHaveNoError) {
  TimedRow a = row(1, "x"), b = row(2, "x");
  a.ranked_alone = b.ranked_alone = true;
  const TimeStatistics s = time_statistics({{&a, 100}, {&b, 200}});
  EXPECT_EQ(s.n, 0);
  EXPECT_FALSE(s.median);
  EXPECT_EQ(*s.kendall_tau, 1);
}

TEST(StepTimes, OfNoRowsHaveNoStatistics) {
  const TimeStatistics s = time_statistics({});
  EXPECT_FALSE(s.value(TimeStatistic::median));
  EXPECT_FALSE(s.value(TimeStatistic::kendall_tau));
}

std::string refusal(const Value& value) {
  try {
    read_timed_row(value, "r.jsonl: line 1");
  } catch (const Error& error) {
    return error.message();
  }
  return "none";
}

TEST(StepTimes, RefuseRowsThatSayTooLittle) {
  Value whole = Value::Map{{"id", "a"}, {"source", "s"}, {"gpu", "t4"}, {"seconds", 1.0}, {"spec", Value::Map()}};
  EXPECT_EQ(refusal(whole), "none");
  Value left_out = Value::Map{{"id", "a"}, {"source", "s"}, {"left_out", "no lengths"}};
  EXPECT_EQ(refusal(left_out), "none");
  whole.set("seconds", 0.0);
  EXPECT_EQ(refusal(whole), "\"seconds\" is missing");
  whole.set("secconds", 1.0);
  EXPECT_NE(refusal(whole).find("secconds"), std::string::npos);
}

TEST(StepTimes, RefuseBarsOfFieldsThatRowsDoNotHave) {
  const Value bar = Value::Map{{"where", Value::Map{{"colour", "red"}}}};
  const Value info = Value::Map{{"schema", kStepTimesSchema}, {"name", "n"}, {"bars", Value::List{bar}}};
  EXPECT_THROW(read_times_info(info, "corpus.json"), Error);
}

}  // namespace
}  // namespace tidemark
