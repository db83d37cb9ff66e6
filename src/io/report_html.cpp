#include "io/report_html.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "estimate/breakdown.h"
#include "estimate/verdict.h"
#include "io/html_chart.h"
#include "io/html_page.h"
#include "io/text_table.h"

namespace tidemark::io {
namespace {

// "61.3 GiB", with the exact figure when the pointer rests on it.
std::string bytes_cell(std::int64_t bytes) {
  return fmt::format("<span title=\"{} bytes\">{}</span>", group_digits(bytes), format_bytes(bytes));
}

std::string peaks(const Report& report) {
  const Peak& peak = report.peak;
  std::string text = fmt::format("<h2>Peak <small>step {}, {}</small></h2>\n<table>\n", peak.step, name_of(peak.phase));
  const auto add = [&](const char* name, std::int64_t bytes, const char* what) {
    text += html_row({name, bytes_cell(bytes), group_digits(bytes), what});
  };
  text += html_row({"", "", "bytes", ""}, "th");
  add("allocated", peak.allocated_bytes, "live tensors");
  add("reserved", peak.reserved_bytes, "what PyTorch's allocator holds");
  add("device", peak.device_bytes, "reserved, and what is below");
  for (const DeviceItem& item : report.device)
    text += html_row({"&emsp;" + item.name, bytes_cell(item.bytes.typical), range_text(item.bytes.low, item.bytes.high),
                      escape_html(item.what)});
  add("card", report.card.total_bytes, "all of its memory");
  text += "</table>\n";
  if (report.margin) text += fmt::format("<p>{}</p>\n", escape_html(margin_line(*report.margin)));
  if (const auto& interval = report.interval)
    text += fmt::format("<p>allocated {} to {}, reserved {} to {}: {}</p>\n", bytes_cell(interval->allocated_low_bytes),
                        bytes_cell(interval->allocated_high_bytes), bytes_cell(interval->reserved_low_bytes),
                        bytes_cell(interval->reserved_high_bytes), escape_html(interval->why));
  return text;
}

std::string communicators(const Report& report) {
  if (report.communicators.empty()) return {};
  std::string text =
      "<h2>Communicators</h2>\n<table>\n" + html_row({"name", "ranks", "nodes", "used for", "typical", "bytes"}, "th");
  for (const auto& [one, bytes] : report.communicators)
    text += html_row(
        {"<code>" + escape_html(one.name) + "</code>", fmt::format("{}", one.ranks.size()),
         one.across_nodes ? "several" : "one",
         fmt::format("{}{}", one.collective ? "collectives" : "",
                     one.peers > 0 ? fmt::format("{}{} peers", one.collective ? ", " : "", one.peers) : ""),
         bytes_cell(bytes.typical), fmt::format("{} to {}", group_digits(bytes.low), group_digits(bytes.high))});
  return text + "</table>\n";
}

std::string out_of_memory(const Report& report) {
  if (!report.oom) return {};
  std::string text = fmt::format("<h2>Out of memory <small>step {}, {}</small></h2>\n<pre>{}</pre>\n", report.oom->step,
                                 name_of(report.oom->phase), escape_html(report.oom->message));
  if (!report.oom->where.empty()) text += fmt::format("<p>at <code>{}</code></p>\n", escape_html(report.oom->where));
  return text;
}

std::string steps(const Report& report) {
  if (report.steps.empty()) return {};
  std::string text = "<h2>Steps</h2>\n<table>\n";
  text += html_row({"step", "phase", "peak allocated", "peak reserved", "allocated at the end"}, "th");
  for (const StepReport& step : report.steps) {
    text += html_row({fmt::format("<b>{}</b>", step.step), "", bytes_cell(step.peak_allocated_bytes),
                      bytes_cell(step.peak_reserved_bytes), bytes_cell(step.end_allocated_bytes)});
    for (const PhaseReport& phase : step.phases)
      text += html_row({"", std::string(name_of(phase.phase)), bytes_cell(phase.peak_allocated_bytes),
                        bytes_cell(phase.peak_reserved_bytes), bytes_cell(phase.end_allocated_bytes)});
  }
  text += "</table>\n";
  if (report.data)
    text += fmt::format("<p>{}</p>\n", escape_html(data_line(*report.data)));
  else if (!report.varying_inputs.empty())
    text += fmt::format("<p>{}</p>\n", escape_html(varying_line(report)));
  if (report.compiling) text += fmt::format("<p>{}</p>\n", escape_html(compiling_line(*report.compiling, report.peak)));
  return text;
}

std::string breakdown(const char* title, std::vector<NamedBytes> rows, std::int64_t whole) {
  std::erase_if(rows, [](const NamedBytes& one) { return one.bytes == 0; });
  if (rows.empty()) return {};
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  // Long lists fold: the page stays readable, and nothing is left out.
  constexpr std::size_t kShown = 15;
  std::string text = fmt::format("<h3>{}</h3>\n<table class=\"bars\">\n", title);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double percent =
        whole > 0 ? std::min(100.0, 100.0 * static_cast<double>(rows[i].bytes) / static_cast<double>(whole)) : 0;
    text += fmt::format(
        "<tr{}><td><code>{}</code></td><td>{}</td><td>{:.1f} %</td><td class=\"bar\"><i "
        "style=\"width:{:.1f}%\"></i></td></tr>\n",
        i < kShown ? "" : " class=\"more\"", escape_html(rows[i].name), bytes_cell(rows[i].bytes), percent, percent);
  }
  text += "</table>\n";
  if (rows.size() > kShown)
    text += fmt::format("<button class=\"unfold\">show {} more</button>\n", rows.size() - kShown);
  return text;
}

std::string assumptions(const Report& report) {
  if (report.assumptions.empty()) return {};
  std::string text = "<h2>Assumptions</h2>\n<table>\n" + html_row({"what", "where", "times"}, "th");
  for (const Assumption& one : report.assumptions)
    text +=
        html_row({escape_html(one.what), "<code>" + escape_html(one.where) + "</code>", fmt::format("{}", one.count)});
  return text + "</table>\n";
}

std::string footer(const Report& report) {
  std::string versions, command;
  for (const auto& [name, version] : report.versions) {
    const auto source = report.sources.find(name);
    versions += fmt::format("{} {}{}, ", escape_html(name), escape_html(version),
                            source == report.sources.end() ? "" : " (" + escape_html(source->second) + ")");
  }
  for (const std::string& word : report.script.command) command += escape_html(word) + " ";
  std::string text = "<footer>\n";
  if (!command.empty()) text += fmt::format("<p><code>{}</code></p>\n", command);
  if (report.script.stopped_after_steps)
    text += fmt::format("<p>stopped after {} steps</p>\n", *report.script.stopped_after_steps);
  if (!versions.empty()) text += fmt::format("<p>{}</p>\n", versions.substr(0, versions.size() - 2));
  text += fmt::format("<p>on the host: {:.1f} s, {}</p>\n</footer>\n", report.host.seconds,
                      format_bytes(report.host.peak_rss_bytes));
  return text;
}

}  // namespace

std::string report_to_html(const Report& report) {
  const char* mood = !report.fits ? "unsure" : *report.fits ? "good" : "bad";
  std::string body = fmt::format("<header class=\"{}\"><h1>{}</h1><p>{}</p></header>\n", mood,
                                 escape_html(report.verdict), escape_html(report.card.name));
  body += out_of_memory(report) + peaks(report) + timeline_chart(report) + "<h2>Live at the peak</h2>\n";
  const std::int64_t live = report.peak.allocated_bytes;
  body += breakdown("By category", report.at_peak.by_category, live);
  body += breakdown("By module, layers together", layers_together(report.at_peak.by_module), live);
  body += breakdown("By module", report.at_peak.by_module, live);
  body += breakdown("By line of the program", report.at_peak.by_line, live);
  body += breakdown("By operation", report.at_peak.by_operation, live);
  body += steps(report) + communicators(report) + assumptions(report) + footer(report);
  return html_page(report.verdict, body);
}

}  // namespace tidemark::io
