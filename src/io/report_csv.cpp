#include "io/report_csv.h"

#include <fmt/format.h>

#include "estimate/verdict.h"

namespace tidemark::io {
namespace {

// RFC 4180: quotes around a field that needs them, quotes inside doubled.
std::string csv_field(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string result = "\"";
  for (char c : field) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

void add_named(std::string& text, const char* section, const std::vector<NamedBytes>& rows) {
  for (const NamedBytes& row : rows) text += fmt::format("{},{},,,{},,\n", section, csv_field(row.name), row.bytes);
}

}  // namespace

std::string report_to_csv(const Report& report) {
  std::string text = "section,name,step,phase,allocated_bytes,reserved_bytes,device_bytes\n";
  const Peak& peak = report.peak;
  text += fmt::format("verdict,{},,,,,\n", csv_field(report.verdict));
  text += fmt::format("peak,{},{},{},{},{},{}\n", csv_field(report.card.name), peak.step, name_of(peak.phase),
                      peak.allocated_bytes, peak.reserved_bytes, peak.device_bytes);
  text += fmt::format("card,{},,,,,{}\n", csv_field(report.card.name), report.card.total_bytes);
  for (const StepReport& step : report.steps) {
    text += fmt::format("step,,{},,{},{},\n", step.step, step.peak_allocated_bytes, step.peak_reserved_bytes);
    for (const PhaseReport& phase : step.phases)
      text += fmt::format("phase,,{},{},{},{},\n", step.step, name_of(phase.phase), phase.peak_allocated_bytes,
                          phase.peak_reserved_bytes);
  }
  add_named(text, "category", report.at_peak.by_category);
  add_named(text, "module", report.at_peak.by_module);
  add_named(text, "line", report.at_peak.by_line);
  add_named(text, "operation", report.at_peak.by_operation);
  for (const TimelinePoint& point : report.timeline)
    text += fmt::format("timeline,{},{},{},{},{},\n", point.event, point.step, name_of(point.phase),
                        point.allocated_bytes, point.reserved_bytes);
  return text;
}

}  // namespace tidemark::io
