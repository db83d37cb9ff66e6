#include "io/report_json.h"

#include <gtest/gtest.h>

#include "io/json_reader.h"
#include "support/sample_card.h"
#include "support/sample_report.h"
#include "support/throws.h"

namespace tidemark::io {
namespace {

TEST(ReportJson, ComesBackFromItsOwnText) {
  for (const bool with_everything : {false, true}) {
    Report report = sample_report();
    if (with_everything) {
      report.oom = sample_oom();
      report.interval = Interval{1, 2, 3, 4, "addresses"};
      report.device = {{"context", {1, 2, 3}, "the CUDA context"}};
      report.communicators = {{{"world", {0, 1}, true, true, 1}, {1, 2, 3}}};
      report.margin = Margin{"p90", "text", 93, -0.25, 0};
      report.varying_inputs = {{"input_ids", 3, {4, 212}, {4, 980}}};
      report.compiling = CompilingReport{2, 1 << 20, 2 << 20};
      report.peak.physical_bytes = 58 * kGiB;
      report.serving = sample_serving();
      report.serving->refusal = "no memory";
      report.timeline_by_category = {{"parameters", {kGiB, kGiB, 0}}, {"\"own\"", {0, 59 * kGiB, 30 * kGiB}}};
      report.data = DataReport{9, 4, 2, false, "why", true, {{"input_ids", 3, {4, 2}, {4, 3}, {4, 5}, {4, 9}}}};
    }
    const std::string text = write_report(report);
    EXPECT_EQ(write_report(read_report(text, "r.json")), text);
  }
}

TEST(ReportJson, ReadsWhatAProcessKnows) {
  const Report report = read_report(R"({"schema": "tidemark.report/1", "engine": "run",
    "peak": {"allocated_bytes": 1, "reserved_bytes": 2, "step": 1, "phase": "load"}})",
                                    "r.json");
  EXPECT_EQ(report.peak.reserved_bytes, 2);
  EXPECT_EQ(report.peak.phase, Phase::load);
  EXPECT_EQ(report.fits, std::nullopt);
  EXPECT_TRUE(report.steps.empty());
}

TEST(ReportJson, AnUndecidedVerdictIsNull) {
  Report report = sample_report();
  report.fits.reset();
  EXPECT_NE(write_report(report).find("\"fits\": null"), std::string::npos);
}

TEST(ReportJson, ReplacesBytesThatAreNotText) {
  Report report = sample_report();
  report.at_peak.by_line[0].name = "\xff\xfe";
  EXPECT_NO_THROW(read_report(write_report(report), "r.json"));
}

TEST(ReportJson, RefusesCategoriesThatAreNotOfItsTimeline) {
  Report report = sample_report();
  report.timeline_by_category = {{"parameters", {kGiB, kGiB}}};
  const auto error = error_of([&] { read_report(write_report(report), "r.json"); });
  ASSERT_TRUE(error);
  EXPECT_NE(
      std::string(error->what()).find("timeline_by_category[0]: bytes: expected 3 numbers, as the timeline has points"),
      std::string::npos)
      << error->what();
}

TEST(ReportJson, ItsTimelineIsWrittenAsTheRest) {
  for (Report report : {sample_report(), Report{}}) {
    const std::string text = write_report(report);
    EXPECT_EQ(Json::parse(text).dump(1) + "\n", text);
    report.timeline_by_category = {{"\xff", std::vector<std::int64_t>(report.timeline.size(), 7)}};
    EXPECT_EQ(read_report(write_report(report), "r.json").timeline_by_category.size(), 1U);
  }
}

struct BadReport {
  const char* name;
  const char *from, *to;
  const char* says;
};

class ReadReportRefuses : public testing::TestWithParam<BadReport> {};

TEST_P(ReadReportRefuses, AndNamesThePlace) {
  const std::string text = with(write_report(sample_report()), GetParam().from, GetParam().to);
  const auto error = error_of([&] { read_report(text, "r.json"); });
  ASSERT_TRUE(error);
  EXPECT_NE(std::string(error->what()).find(GetParam().says), std::string::npos) << error->what();
}

INSTANTIATE_TEST_SUITE_P(
    Reports, ReadReportRefuses,
    testing::Values(
        BadReport{"schema", "tidemark.report/1", "tidemark.report/9", "its schema is \"tidemark.report/9\""},
        BadReport{"unknown", "\"engine\"", "\"colour\": 1, \"engine\"", "\"colour\" is not a known key"},
        BadReport{"phase", "\"backward\"", "\"bakward\"", "\"bakward\" is not a phase (did you mean backward?)"},
        BadReport{"step", "\"step\": 2", "\"step\": \"two\"", "peak: step: expected a whole number"},
        BadReport{"in_a_list", "\"bytes\": 32212254720", "\"bytes\": -1", "by_category[0]: bytes"},
        BadReport{"fits", "\"fits\": true", "\"fits\": 1", "fits: expected true or false"}),
    [](const auto& test) { return test.param.name; });

TEST(ReportJson, RefusesABackwardInterval) {
  Report report = sample_report();
  report.interval = Interval{2, 1, 3, 4, "addresses"};
  const auto error = error_of([&] { read_report(write_report(report), "r.json"); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message(), "the lower bound is above the upper one");
}

}  // namespace
}  // namespace tidemark::io
