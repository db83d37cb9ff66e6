#include "io/report_html.h"

#include <fmt/format.h>

#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "estimate/recorder.h"
#include "estimate/verdict.h"
#include "io/html_page.h"
#include "io/report_json.h"
#include "io/report_page.h"
#include "io/value_json.h"

namespace tidemark::io {
namespace {

std::string interval_line(const Interval& interval) {
  return fmt::format("allocated {} to {}, reserved {} to {}: {}", format_bytes(interval.allocated_low_bytes),
                     format_bytes(interval.allocated_high_bytes), format_bytes(interval.reserved_low_bytes),
                     format_bytes(interval.reserved_high_bytes), interval.why);
}

/// What a terminal is told in words, too.
Value::List lines_of(const Report& report) {
  Value::List lines;
  if (report.margin) lines.emplace_back(margin_line(*report.margin));
  if (report.interval) lines.emplace_back(interval_line(*report.interval));
  if (report.data)
    lines.emplace_back(data_line(*report.data));
  else if (!report.varying_inputs.empty())
    lines.emplace_back(varying_line(report));
  if (report.compiling) lines.emplace_back(compiling_line(*report.compiling, report.peak));
  return lines;
}

/// Nothing in JSON that stands in a page can end its element, or begin a comment.
std::string within_script(const std::string& json) {
  std::string text;
  for (const char letter : json) text += letter == '<' ? std::string("\\u003c") : std::string(1, letter);
  return text;
}

void fill(std::string& page, std::string_view place, std::string_view text) {
  const std::size_t at = page.find(place);
  TM_CHECK(at != std::string::npos, "data/report_page.html has no place for what it is to show");
  page.replace(at, place.size(), text);
}

}  // namespace

std::string report_to_html(const Report& report) {
  const std::string data =
      fmt::format(R"({{"report": {}, "lines": {}}})", write_report(report), value_to_json_line(lines_of(report)));
  std::string page(report_page());
  fill(page, "<!--title-->", escape_html(report.verdict));
  fill(page, "<!--data-->", within_script(data));
  return page;
}

}  // namespace tidemark::io
