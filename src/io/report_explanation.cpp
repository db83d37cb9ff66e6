#include "io/report_explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/did_you_mean.h"
#include "base/error.h"
#include "estimate/breakdown.h"
#include "estimate/verdict.h"
#include "io/report_text.h"
#include "io/text_table.h"

namespace tidemark::io {
namespace {

constexpr std::size_t kNameWidth = 60;

constexpr std::array<std::string_view, 4> kListNames{"category", "module", "operation", "line"};

const std::vector<NamedBytes>& rows_of(const AtPeak& at_peak, PeakList list) {
  switch (list) {
    case PeakList::category: return at_peak.by_category;
    case PeakList::module: return at_peak.by_module;
    case PeakList::operation: return at_peak.by_operation;
    case PeakList::line: return at_peak.by_line;
  }
  return at_peak.by_category;
}

}  // namespace

std::vector<PeakList> parse_peak_lists(std::string_view text, const std::string& where) {
  std::vector<PeakList> lists;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string name(text.substr(0, comma));
    const auto* found = std::find(kListNames.begin(), kListNames.end(), name);
    if (found == kListNames.end())
      throw Error(Errc::bad_value, fmt::format("\"{}\" is not one of {}", name, fmt::join(kListNames, ", ")), where,
                  did_you_mean(name, std::vector<std::string>(kListNames.begin(), kListNames.end())));
    lists.push_back(static_cast<PeakList>(found - kListNames.begin()));
    if (comma == std::string_view::npos) return lists;
    text.remove_prefix(comma + 1);
  }
}

std::string peak_table(std::string_view title, std::vector<NamedBytes> rows, std::int64_t whole_bytes,
                       std::size_t limit) {
  std::erase_if(rows, [](const NamedBytes& row) { return row.bytes == 0; });
  if (rows.empty()) return {};
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  TextTable table({std::string(title), "", "bytes", ""});
  const auto add = [&](const std::string& name, std::int64_t bytes) {
    table.add({name, format_bytes(bytes), group_digits(bytes), percent(bytes, whole_bytes)});
  };
  const std::size_t shown = std::min(rows.size(), limit);
  for (std::size_t i = 0; i < shown; ++i) add(shorten_front(rows[i].name, kNameWidth), rows[i].bytes);
  std::int64_t others = 0;
  for (std::size_t i = shown; i < rows.size(); ++i) others += rows[i].bytes;
  if (others > 0) add(fmt::format("[{} others]", rows.size() - shown), others);
  return table.text(2);
}

std::string explanation_of(const Report& report, const Explanation& wanted) {
  const Peak& peak = report.peak;
  std::string text =
      fmt::format("{}\n  allocated at the peak (step {}, {}): {}, {} bytes\n", report.verdict, peak.step,
                  name_of(peak.phase), format_bytes(peak.allocated_bytes), group_digits(peak.allocated_bytes));
  for (PeakList list : wanted.lists) {
    const std::string title = fmt::format("by {}", kListNames[static_cast<std::size_t>(list)]);
    const std::vector<NamedBytes>& rows = rows_of(report.at_peak, list);
    const bool together = list == PeakList::module && wanted.layers_together;
    const std::string table =
        peak_table(title, together ? layers_together(rows) : rows, peak.allocated_bytes, wanted.rows);
    text += "\n" + (table.empty() ? fmt::format("  {}: the report does not say\n", title) : table);
  }
  if (report.kv_cache) text += "\n  cache of keys and values of each sample\n" + kv_cache_text(*report.kv_cache);
  return text;
}

}  // namespace tidemark::io
