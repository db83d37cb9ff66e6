#include "io/validation_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/bytes.h"
#include "io/text_table.h"

namespace tidemark::io {
namespace {

constexpr std::size_t kMaxReasons = 10;

std::string count_text(std::int64_t count, std::int64_t of) { return of == 0 ? "-" : fmt::format("{}", count); }

/// A bound where second rounds are not known.
std::string pef_text(const Statistics& s) { return (s.not_known > 0 ? "≤ " : "") + percent_text(s.pef); }
std::string mcp_text(const Statistics& s) {
  return (s.not_known > 0 ? "≥ " : "") + statistic_text(Statistic::mcp_bytes, s.mcp_bytes);
}

void append(std::vector<std::string>& row, const std::vector<std::string>& cells) {
  row.insert(row.end(), cells.begin(), cells.end());
}

std::vector<std::string> row_of(const std::string& name, const Statistics& statistics) {
  std::vector<std::string> row{name};
  append(row, statistic_cells(statistics));
  return row;
}

std::string statistics_text(const EngineResult& engine, const std::vector<std::string>& by) {
  std::vector<std::string> header{fmt::format("{}", fmt::join(by, ", "))};
  append(header, statistic_headings());
  TextTable table(header);
  for (const Group& group : engine.groups) table.add(row_of(group_text(group), group.statistics));
  if (engine.groups.size() > 1) table.add(row_of("all", engine.total.statistics));
  return table.text(2);
}

void add_rival_cells(std::vector<std::string>& row, const Statistics& s) {
  append(row, {fmt::format("{}", s.n), percent_text(s.median), pef_text(s), mcp_text(s)});
}

/// A group of columns per estimator, ours first.
std::string rivals_table(const EngineResult& engine, const std::vector<std::string>& by) {
  if (engine.total.rivals.empty()) return "  nobody else's estimates are known of these rows\n";
  std::vector<std::string> header{fmt::format("{}", fmt::join(by, ", "))};
  const auto add_header = [&](const std::string& name) { append(header, {name + ": n", "median", "PEF", "MCP"}); };
  add_header("tidemark");
  for (const auto& [name, ignored] : engine.total.rivals) add_header(name);
  TextTable table(header);
  const auto add = [&](const std::string& name, const Group& group) {
    std::vector<std::string> row{name};
    add_rival_cells(row, group.statistics);
    for (const auto& [rival, ignored] : engine.total.rivals) {
      const auto found = group.rivals.find(rival);
      add_rival_cells(row, found == group.rivals.end() ? Statistics() : found->second);
    }
    table.add(std::move(row));
  };
  for (const Group& group : engine.groups) add(group_text(group), group);
  if (engine.groups.size() > 1) add("all", engine.total);
  return table.text(2);
}

std::string bars_text(const std::vector<BarResult>& bars) {
  if (bars.empty()) return {};
  TextTable table({"bar", "is", "", ""}, TextTable::Align::left);
  for (const BarResult& bar : bars)
    table.add({fmt::format("{}: {}", bar.corpus, bar_text(bar.bar)), statistic_text(bar.bar.statistic, bar.value),
               bar.met ? "met" : "MISSED", bar.met ? "" : bar.bar.why});
  return table.text();
}

std::string left_out_text(const Validation& validation, bool each) {
  if (validation.left_out.empty()) return {};
  std::string text = "left out\n";
  if (each) {
    for (const LeftOut& one : validation.left_out)
      text += fmt::format("  {} {}{}: {}\n", one.corpus, one.id,
                          one.engine ? fmt::format(" ({})", kEngineNames[static_cast<std::size_t>(*one.engine)]) : "",
                          one.reason);
    return text;
  }
  const auto reasons = reasons_of(validation.left_out);
  for (std::size_t i = 0; i < std::min(reasons.size(), kMaxReasons); ++i)
    text += fmt::format("  {:5}  {}\n", reasons[i].second, reasons[i].first);
  if (reasons.size() > kMaxReasons)
    text += fmt::format("  … and {} more reasons (--left-out lists every row)\n", reasons.size() - kMaxReasons);
  return text;
}

}  // namespace

std::string percent_text(const std::optional<double>& fraction, bool is_signed) {
  if (!fraction) return "-";
  return is_signed ? fmt::format("{:+.2f} %", 100 * *fraction) : fmt::format("{:.2f} %", 100 * *fraction);
}

std::string statistic_text(Statistic statistic, const std::optional<double>& value) {
  if (!value) return "-";
  switch (statistic) {
    case Statistic::n:
    case Statistic::under_predictions:
    case Statistic::false_refusals:
    case Statistic::missed_ooms: return fmt::format("{:.0f}", *value);
    case Statistic::mcp_bytes: return format_bytes_signed(static_cast<std::int64_t>(*value), false);
    default: return percent_text(value, statistic == Statistic::signed_mean);
  }
}

std::vector<std::string> statistic_headings() {
  return {"n",          "MAPE",       "median",         "p90",         "max", "signed",
          "under",      "OOM right",  "false refusals", "missed OOMs", "PEF", "MCP",
          "margin p50", "margin p90", "margin p99"};
}

std::vector<std::string> statistic_cells(const Statistics& s) {
  return {fmt::format("{}", s.n),
          percent_text(s.mape),
          percent_text(s.median),
          percent_text(s.p90),
          percent_text(s.max),
          percent_text(s.signed_mean, true),
          count_text(s.under_predictions, s.n),
          s.verdicts == 0 ? "-" : fmt::format("{} of {}", s.verdicts - s.false_refusals - s.missed_ooms, s.verdicts),
          count_text(s.false_refusals, s.verdicts),
          count_text(s.missed_ooms, s.verdicts),
          pef_text(s),
          mcp_text(s),
          percent_text(s.margin_p50, true),
          percent_text(s.margin_p90, true),
          percent_text(s.margin_p99, true)};
}

std::string bar_text(const Bar& bar) {
  std::vector<std::string> meant;
  for (const auto& [field, value] : bar.where) meant.push_back(field + " " + value);
  return fmt::format("{} {} {} {}{}", kEngineNames[static_cast<std::size_t>(bar.engine)],
                     kStatisticNames[static_cast<std::size_t>(bar.statistic)],
                     bar.at == At::most ? "<=" : ">=", statistic_text(bar.statistic, bar.limit),
                     meant.empty() ? "" : fmt::format(" ({})", fmt::join(meant, ", ")));
}

std::string engine_text(const EngineResult& engine) {
  return fmt::format("{}{}", kEngineNames[static_cast<std::size_t>(engine.engine)], engine.stored ? ", as stored" : "");
}

std::string group_text(const Group& group) {
  std::vector<std::string> shown;
  for (const std::string& value : group.values) shown.push_back(value.empty() ? "-" : value);
  return fmt::format("{}", fmt::join(shown, ", "));
}

std::vector<std::pair<std::string, std::size_t>> reasons_of(const std::vector<LeftOut>& left_out) {
  std::vector<std::pair<std::string, std::size_t>> reasons;
  for (const LeftOut& one : left_out) {
    const std::string reason =
        one.engine ? fmt::format("{}: {}", kEngineNames[static_cast<std::size_t>(*one.engine)], one.reason)
                   : one.reason;
    const auto found = std::find_if(reasons.begin(), reasons.end(), [&](const auto& r) { return r.first == reason; });
    if (found == reasons.end())
      reasons.emplace_back(reason, 1);
    else
      ++found->second;
  }
  std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return reasons;
}

std::string validation_to_text(const Validation& validation, const ValidationTextOptions& options) {
  std::string text;
  for (const EngineResult& engine : validation.engines) {
    text += fmt::format("{}: {} rows predicted\n", engine_text(engine), engine.predictions.size());
    if (engine.predictions.empty()) continue;
    text += statistics_text(engine, validation.by);
    if (options.rivals) text += "others on the same rows\n" + rivals_table(engine, validation.by);
  }
  return text + bars_text(validation.bars) + left_out_text(validation, options.left_out);
}

}  // namespace tidemark::io
