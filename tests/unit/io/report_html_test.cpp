#include "io/report_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "io/html_page.h"
#include "io/report_json.h"
#include "io/report_page.h"
#include "io/value_json.h"
#include "support/sample_report.h"

namespace tidemark::io {
namespace {

using testing::HasSubstr;
using testing::Not;

/// What the page's script reads.
Value data_in(const std::string& page) {
  constexpr std::string_view kBegin = R"(<script type="application/json" id="data">)";
  const std::size_t begin = page.find(kBegin) + kBegin.size();
  return value_from_json(page.substr(begin, page.find("</script>", begin) - begin), "data");
}

TEST(ReportPage, IsTheFile) {
  std::ifstream file(TIDEMARK_SOURCE_DIR "/data/report_page.html", std::ios::binary);
  EXPECT_EQ(report_page(), std::string(std::istreambuf_iterator<char>(file), {}));
}

TEST(ReportHtml, NeedsNothingFromOutside) {
  const std::string page = report_to_html(sample_report());
  for (const char* reference : {"http://", "https://", " src=", "<link", "@import", "url("})
    EXPECT_THAT(page, Not(HasSubstr(reference)));
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-"));
}

TEST(ReportHtml, HoldsTheReport) {
  const Report report = sample_report();
  const std::string page = report_to_html(report);
  EXPECT_THAT(page, HasSubstr("<title>" + escape_html(report.verdict) + "</title>"));
  EXPECT_EQ(*data_in(page).find("report"), value_from_json(write_report(report), "report"));
  EXPECT_EQ(*data_in(page).find("lines"), Value(Value::List()));
}

TEST(ReportHtml, SaysWhatATerminalIsTold) {
  Report report = sample_report();
  report.interval = {.allocated_low_bytes = kGiB,
                     .allocated_high_bytes = 2 * kGiB,
                     .reserved_low_bytes = 3 * kGiB,
                     .reserved_high_bytes = 4 * kGiB,
                     .why = "of <two> orders"};
  EXPECT_EQ(*data_in(report_to_html(report)).find("lines"),
            Value(Value::List{"allocated 1.00 GiB to 2.00 GiB, reserved 3.00 GiB to 4.00 GiB: of <two> orders"}));
}

TEST(ReportHtml, KeepsWhatTheProgramNamedWithinItsData) {
  Report report = sample_report();
  report.at_peak.by_line[0].name = "<script>alert('x')</script>";
  report.script.command = {"python", "</script><!--<b>"};
  report.verdict = "<!--data-->";
  const std::string page = report_to_html(report);
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("</script><!--")));
  EXPECT_EQ(*data_in(page).find("report"), value_from_json(write_report(report), "report"));
}

TEST(ReportHtml, SurvivesAnEmptyReport) {
  Report report;
  report.timeline = {{5, 0, 0, 0, Phase::load}, {5, 0, 0, 0, Phase::load}};
  EXPECT_THAT(report_to_html(report), HasSubstr("</html>"));
}

}  // namespace
}  // namespace tidemark::io
