#include "validate/corpus.h"

#include <gtest/gtest.h>

#include "support/measurements.h"
#include "support/throws.h"

namespace tidemark {
namespace {

Report report_of(std::int64_t reserved) {
  Report report;
  report.fits = true;
  report.card = {"t4", "Tesla T4", 16'000, 100, 300};
  report.peak.allocated_bytes = reserved - 10;
  report.peak.reserved_bytes = reserved;
  report.peak.device_bytes = reserved + 400;
  return report;
}

TEST(Answer, TellsEveryMetricOfAReport) {
  const Measurement row = read_measurement(measurement_value(), "r");
  const Answer answer = answer_of(report_of(1000), row);
  EXPECT_EQ(answer.bytes(Metric::allocated), 990);
  EXPECT_EQ(answer.bytes(Metric::reserved), 1000);
  EXPECT_EQ(answer.bytes(Metric::device), 1400);
  EXPECT_EQ(answer.bytes(Metric::device_over_start), 1000);  // the context is there when measuring begins
  EXPECT_FALSE(answer.bytes(Metric::active));
  EXPECT_FALSE(answer.out_of_memory);
}

TEST(Answer, HasTheIntervalOfEveryMetric) {
  Report report = report_of(1000);
  report.interval = {.allocated_low_bytes = 980,
                     .allocated_high_bytes = 990,
                     .reserved_low_bytes = 950,
                     .reserved_high_bytes = 1050,
                     .why = "addresses"};
  const Answer answer = answer_of(report, read_measurement(measurement_value(), "r"));
  EXPECT_EQ(answer.lowest_bytes.at("device"), 1350);
  EXPECT_EQ(answer.highest_bytes.at("device_over_start"), 1050);
  EXPECT_EQ(write_fields(read_answer(write_fields(answer), "p")), write_fields(answer));
}

TEST(Answer, LeavesOutWhatTheProgramHadWhenTheMeasuringBegan) {
  Answer answer = answer_of(report_of(1000), read_measurement(measurement_value(), "r"));
  leave_out_start(answer, report_of(300));
  EXPECT_EQ(answer.bytes(Metric::device_over_start), 700);
  EXPECT_EQ(answer.bytes(Metric::reserved), 1000);
  EXPECT_EQ(answer.in_use_at_start_bytes, 300);
  EXPECT_EQ(answer.lowest_bytes.at("device_over_start"), 700);
  EXPECT_EQ(answer.highest_bytes.at("device_over_start"), 1000);  // it may have begun before
  EXPECT_EQ(write_fields(read_answer(write_fields(answer), "p")), write_fields(answer));
}

TEST(Answer, RefusesAMetricThatDoesNotExist) {
  const Value value = Value::Map{{"id", "a"}, {"lowest_bytes", Value::Map{{"reservd", 1}}}};
  EXPECT_EQ(error_of([&] { read_answer(value, "p"); })->hint(), "did you mean reserved?");
}

TEST(CorpusInfo, IsReadStrictly) {
  Value value = Value::Map{{"schema", "tidemark.corpus/1"}, {"name", "c"}};
  Value::List bars{Value::Map{{"statistic", "p90"}, {"limit", 0.1}, {"where", Value::Map{{"famly", "t5"}}}}};
  EXPECT_EQ(read_corpus_info(value, "c.json").bars.size(), 0u);
  value.set("bars", bars);
  EXPECT_STREQ(error_of([&] { read_corpus_info(value, "c.json"); })->what(),
               "c.json: bars[0].where: rows are not grouped by \"famly\" (did you mean family?)");
  value.set("schema", "tidemark.corpus/2");
  EXPECT_STREQ(error_of([&] { read_corpus_info(value, "c.json"); })->what(),
               "c.json: schema: expected \"tidemark.corpus/1\", found \"tidemark.corpus/2\"");
}

TEST(Corpus, HasUniqueIdsAndAnswersOfItsRows) {
  Corpus corpus = corpus_of({{1, 1}, {2, 2}});
  check_corpus(corpus);
  corpus.stored[0].id = "z";
  EXPECT_EQ(error_of([&] { check_corpus(corpus); })->message(), "no row has the id \"z\"");
  corpus.stored.clear();
  corpus.rows[1].id = "a";
  EXPECT_STREQ(error_of([&] { check_corpus(corpus); })->what(), "rows.jsonl: line 2: the id \"a\" is given twice");
}

}  // namespace
}  // namespace tidemark
