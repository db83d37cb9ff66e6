#include "io/report_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/html_page.h"
#include "support/sample_report.h"

namespace tidemark::io {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ReportHtml, NeedsNothingFromOutside) {
  const std::string page = report_to_html(sample_report());
  for (const char* reference : {"http://", "https://", " src=", "<link", "@import", "url("})
    EXPECT_THAT(page, Not(HasSubstr(reference)));
}

TEST(ReportHtml, HoldsVerdictChartAndTables) {
  const Report report = sample_report();
  const std::string page = report_to_html(report);
  EXPECT_THAT(page, HasSubstr(escape_html(report.verdict)));
  EXPECT_THAT(page, HasSubstr("<svg id=\"chart\""));
  EXPECT_THAT(page, HasSubstr("[10,64424509440,65498251264,1,2]"));
  for (const char* title :
       {"By category", "By module", "By line of the program", "By operation", "Assumptions", "Steps"})
    EXPECT_THAT(page, HasSubstr(title));
}

TEST(ReportHtml, EscapesWhatTheProgramNamed) {
  Report report = sample_report();
  report.at_peak.by_line[0].name = "<script>alert('x')</script>";
  report.script.command = {"python", "</script><b>"};
  const std::string page = report_to_html(report);
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("</script><b>")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&#39;x&#39;)"));
}

TEST(ReportHtml, FoldsLongLists) {
  Report report = sample_report();
  for (int i = 0; i < 40; ++i) report.at_peak.by_module.push_back({"m" + std::to_string(i), 1});
  EXPECT_THAT(report_to_html(report), HasSubstr("show 26 more"));
}

TEST(ReportHtml, SurvivesAnEmptyReport) {
  Report report;
  report.timeline = {{5, 0, 0, 0, Phase::load}, {5, 0, 0, 0, Phase::load}};
  EXPECT_THAT(report_to_html(report), HasSubstr("</html>"));
}

}  // namespace
}  // namespace tidemark::io
