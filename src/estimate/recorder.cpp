#include "estimate/recorder.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace tidemark {
namespace {

using BytesByName = std::unordered_map<std::string, std::int64_t>;

/// The largest first, equal ones by name.
std::vector<NamedBytes> sorted_rows(const BytesByName& bytes) {
  std::vector<NamedBytes> rows;
  rows.reserve(bytes.size());
  for (const auto& [name, amount] : bytes) rows.push_back({name, amount});
  std::sort(rows.begin(), rows.end(), [](const NamedBytes& a, const NamedBytes& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name;
  });
  return rows;
}

}  // namespace

std::string_view name_of(Category category) {
  constexpr std::string_view kNames[] = {"parameters", "gradients",     "optimizer_state", "activations",
                                         "workspace",  "communication", "kv_cache",        "other"};
  return kNames[static_cast<int>(category)];
}

void Recorder::end_phase(std::int64_t step, Phase phase) {
  const Timeline::Peaks peaks = run_.timeline().take_peaks();
  ends_.push_back({run_.timeline().events(), step, phase});
  if (step == 0) return;
  if (steps_.empty() || steps_.back().step != step) steps_.push_back({.step = step, .phases = {}});
  StepReport& report = steps_.back();
  const auto same = std::find_if(report.phases.begin(), report.phases.end(),
                                 [&](const PhaseReport& known) { return known.phase == phase; });
  PhaseReport& entry = same != report.phases.end() ? *same : report.phases.emplace_back(PhaseReport{.phase = phase});
  entry.peak_allocated_bytes = std::max(entry.peak_allocated_bytes, peaks.allocated_bytes);
  entry.peak_reserved_bytes = std::max(entry.peak_reserved_bytes, peaks.reserved_bytes);
  entry.end_allocated_bytes = run_.timeline().last().allocated_bytes;
  report.peak_allocated_bytes = std::max(report.peak_allocated_bytes, entry.peak_allocated_bytes);
  report.peak_reserved_bytes = std::max(report.peak_reserved_bytes, entry.peak_reserved_bytes);
  report.end_allocated_bytes = entry.end_allocated_bytes;
}

std::pair<std::int64_t, Phase> Recorder::place_of(std::int64_t event) const {
  for (const End& end : ends_)
    if (event <= end.event) return {end.step, end.phase};
  return {ends_.empty() ? 0 : ends_.back().step, Phase::other};
}

void Recorder::fill_at_peak(Report& report) const {
  const std::int64_t peak = run_.timeline().allocated_peak().event;
  BytesByName category, module, operation;
  // By number and by address first: several may go by one name.
  std::array<std::int64_t, static_cast<std::size_t>(Category::other) + 1> by_category{};
  std::vector<std::int64_t> by_module;
  std::unordered_map<const char*, std::int64_t> by_operation;
  for (const LedgerEntry& entry : run_.ledger()) {
    if (entry.born > peak + 1) break;
    if (entry.died != 0 && entry.died <= peak + 1) continue;
    report.peak.requested_bytes += entry.requested_bytes;
    by_category[static_cast<std::size_t>(entry.category)] += entry.bytes;
    if (entry.module >= by_module.size()) by_module.resize(entry.module + 1);
    by_module[entry.module] += entry.bytes;
    by_operation[entry.op] += entry.bytes;
  }
  for (std::size_t number = 0; number < by_category.size(); ++number)
    if (by_category[number] != 0) category[std::string(name_of(static_cast<Category>(number)))] += by_category[number];
  for (std::uint32_t number = 0; number < by_module.size(); ++number)
    if (by_module[number] != 0) module[run_.module_name(number)] += by_module[number];
  for (const auto& [name, bytes] : by_operation) operation[name] += bytes;
  report.at_peak = {sorted_rows(category), sorted_rows(module), {}, sorted_rows(operation)};
}

std::vector<NamedBytes> Recorder::loaded() const {
  const std::int64_t end = ends_.empty() ? 0 : ends_.front().event;
  BytesByName modules;
  for (const LedgerEntry& entry : run_.ledger()) {
    if (entry.born > end) break;
    if (entry.died == 0 || entry.died > end) modules[run_.module_name(entry.module)] += entry.requested_bytes;
  }
  return sorted_rows(modules);
}

void Recorder::fill(Report& report) const {
  const Timeline& timeline = run_.timeline();
  report.peak.allocated_bytes = timeline.allocated_peak().totals.allocated_bytes;
  report.peak.reserved_bytes = timeline.reserved_peak_bytes();
  std::tie(report.peak.step, report.peak.phase) = place_of(timeline.allocated_peak().event + 1);
  report.steps = steps_;
  for (const Timeline::Stage& stage : timeline.stages())
    report.stages.push_back({stage.name, stage.peak_allocated_bytes, stage.kept_bytes});
  report.assumptions = assumptions_;
  if (report.training) report.training->trained_parameters = trained_parameters_;
  fill_at_peak(report);
  for (const Timeline::Point& point : timeline.points()) {
    const auto [step, phase] = place_of(point.event + 1);
    report.timeline.push_back({point.event, point.totals.allocated_bytes, point.totals.reserved_bytes, step, phase});
  }
}

}  // namespace tidemark
