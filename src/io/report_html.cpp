#include "io/report_html.h"

#include <fmt/format.h>

#include <string_view>

#include "base/bytes.h"
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
  for (const StageReport& stage : report.stages)
    lines.emplace_back(fmt::format("{}: up to {} allocated, {} kept", stage.name,
                                   format_bytes(stage.peak_allocated_bytes), format_bytes(stage.kept_bytes)));
  return lines;
}

}  // namespace

std::string report_to_html(const Report& report) {
  const std::string data =
      fmt::format(R"({{"report": {}, "lines": {}}})", write_report(report), value_to_json_line(lines_of(report)));
  std::string page(report_page());
  fill_place(page, "<!--title-->", escape_html(report.verdict));
  fill_place(page, "<!--data-->", within_script(data));
  return page;
}

}  // namespace tidemark::io
