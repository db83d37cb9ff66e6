#include "io/report_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/sample_report.h"

namespace tidemark::io {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ReportText, BeginsWithTheVerdict) {
  const Report report = sample_report();
  EXPECT_EQ(report_to_text(report).find(report.verdict + "\n"), 0U);
}

TEST(ReportText, ShowsPeaksStepsAndCategories) {
  const std::string text = report_to_text(sample_report());
  EXPECT_THAT(text, HasSubstr("peak (step 2, backward)"));
  EXPECT_THAT(text, HasSubstr("64,424,509,440"));
  EXPECT_THAT(text, HasSubstr("activations       30.0 GiB  50.0 %"));
  EXPECT_THAT(text, HasSubstr("\n  torch 2.11.0 (the default)\n"));
  EXPECT_THAT(text, HasSubstr("assumed: routing is balanced at model.moe (3 times)"));
  EXPECT_THAT(text, Not(HasSubstr("workspace")));  // nothing there
}

TEST(ReportText, FoldsLongListsIntoOthers) {
  Report report = sample_report();
  report.at_peak.by_module.clear();
  for (int i = 0; i < 10; ++i) report.at_peak.by_module.push_back({"m" + std::to_string(i), kGiB});
  EXPECT_THAT(report_to_text(report), HasSubstr("[3 others]  3.00 GiB"));
}

TEST(ReportText, StaysWithin42LinesAfterTheVerdict) {
  Report report = sample_report();
  report.oom = sample_oom();
  report.interval = Interval{1, 2, 3, 4, "addresses"};
  for (const char* name : {"context", "libraries", "communicators", "driver"})
    report.device.push_back({name, {1, 2, 3}, "it"});
  report.margin = Margin{"p90", "text", 93, 0.01, 5};
  report.varying_inputs = {{"input_ids", 3, {4, 212}, {4, 980}}};
  for (int i = 0; i < 20; ++i) {
    report.steps.push_back(report.steps[0]);
    report.assumptions.push_back(report.assumptions[0]);
    report.at_peak.by_category.push_back({"c" + std::to_string(i), kGiB});
    report.at_peak.by_module.push_back({std::string(200, 'm') + std::to_string(i), kGiB});
  }
  judge(report);
  const std::string text = report_to_text(report);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 43) << text;
  EXPECT_THAT(text, HasSubstr("…"));
}

TEST(ReportText, ShowsEachAssumptionThatMovesThePeak) {
  Report report = sample_report();
  report.assumptions.assign(5, {.what = "usual", .where = {}});
  for (const char* what : {"a", "b", "c", "d"})
    report.assumptions.push_back({.what = what, .where = {}, .moves_peak = true});
  EXPECT_THAT(report_to_text(report),
              HasSubstr("  assumed: a\n  assumed: b\n  assumed: c\n  assumed: d\n  … and 5 more assumptions"));
}

TEST(ReportText, SaysWhichInputsVaried) {
  Report report = sample_report();
  report.varying_inputs = {{"input_ids", 3, {4, 212}, {4, 980}}};
  EXPECT_THAT(report_to_text(report), HasSubstr("\n  stopped after 2 steps, while batches varied: input_ids 4x212"));
}

TEST(ReportText, ListsWhatTheDeviceHolds) {
  Report report = sample_report();
  report.device = {{"context", {kGiB / 4, kGiB / 2, kGiB}, "it"}, {"driver", {1024, 1024, 1024}, "it"}};
  report.margin = Margin{"p90", "text", 93, 0.0143, 1 << 20};
  judge(report);
  const std::string text = report_to_text(report);
  EXPECT_THAT(text, HasSubstr("268,435,456 to 1,073,741,824"));
  EXPECT_THAT(text, HasSubstr("1.00 KiB"));
  EXPECT_THAT(text, HasSubstr("\n  margin p90 of 93 measured residuals (text): +1.4 %, 1.00 MiB\n"));
}

TEST(ReportText, ShowsWhereMemoryRanOut) {
  Report report = sample_report();
  report.oom = sample_oom();
  judge(report);
  EXPECT_THAT(report_to_text(report), HasSubstr("\n  at train.py:12\n"));
}

TEST(ReportText, SurvivesAnEmptyReport) { EXPECT_NO_THROW(report_to_text(Report{})); }

TEST(ReportText, ShowsTheFiguresOfAnEngine) {
  Report report = sample_report();
  report.serving = sample_serving();
  const std::string text = report_to_text(report);
  EXPECT_THAT(text, HasSubstr("vLLM 0.33.0 counts"));
  EXPECT_THAT(text, HasSubstr("32.0 GiB  34,359,738,368"));
  EXPECT_THAT(text,
              HasSubstr("KV cache: 65,536 tokens in 4,096 blocks of 16; 16.25 sequences of 4,096 tokens at a time, "
                        "256 allowed\n"));
  EXPECT_THAT(text, HasSubstr("requests: 3 sent, 2 answered; HTTP 500: late\n"));
}

}  // namespace
}  // namespace tidemark::io
