#include "io/report_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "support/sample_report.h"

namespace tidemark::io {
namespace {

using testing::HasSubstr;

TEST(ReportCsv, HasTheSameColumnsInEveryRow) {
  Report report = sample_report();
  report.at_peak.by_operation.clear();  // its quoted comma is tested below
  report.verdict = "fits";
  std::istringstream lines(report_to_csv(report));
  for (std::string line; std::getline(lines, line);) EXPECT_EQ(std::count(line.begin(), line.end(), ','), 6) << line;
}

TEST(ReportCsv, QuotesWhatNeedsIt) {
  EXPECT_THAT(report_to_csv(sample_report()), HasSubstr("operation,\"aten::mm, \"\"addmm\"\"\",,,64424509440,,\n"));
}

TEST(ReportCsv, HoldsPeakStepsAndTimeline) {
  const std::string text = report_to_csv(sample_report());
  EXPECT_THAT(text, HasSubstr("peak,NVIDIA H100 80GB HBM3,2,backward,64424509440,65498251264,66169339904\n"));
  EXPECT_THAT(text, HasSubstr("phase,,1,forward,42949672960,48318382080,\n"));
  EXPECT_THAT(text, HasSubstr("timeline,10,1,backward,64424509440,65498251264,\n"));
}

}  // namespace
}  // namespace tidemark::io
