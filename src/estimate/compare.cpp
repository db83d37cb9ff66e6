#include "estimate/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/bytes.h"
#include "estimate/compare_events.h"
#include "estimate/verdict.h"

namespace tidemark {
namespace {

std::vector<ComparedBytes> compare_categories(const MemoryRecord& a, const MemoryRecord& b) {
  if (a.by_category.empty() || b.by_category.empty()) return {};
  std::vector<ComparedBytes> rows;
  const auto row = [&](const std::string& name) -> ComparedBytes& {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const ComparedBytes& one) { return one.name == name; });
    return found == rows.end() ? rows.emplace_back(ComparedBytes{name, 0, 0, true}) : *found;
  };
  for (const NamedBytes& one : a.by_category) row(one.name).a = checked_add(*row(one.name).a, one.bytes);
  for (const NamedBytes& one : b.by_category) row(one.name).b = checked_add(*row(one.name).b, one.bytes);
  std::erase_if(rows, [](const ComparedBytes& one) { return one.a == 0 && one.b == 0; });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& x, const auto& y) { return std::max(x.a, x.b) > std::max(y.a, y.b); });
  return rows;
}

struct Figure {
  const char* name;
  std::int64_t a, b;
};

std::optional<Divergence> first_of(const std::string& when, std::initializer_list<Figure> figures) {
  for (const Figure& figure : figures) {
    if (figure.a == figure.b) continue;
    Divergence result;
    result.what =
        fmt::format("{}: {} {} against {}", when, figure.name, group_digits(figure.a), group_digits(figure.b));
    return result;
  }
  return std::nullopt;
}

template <class Part>  // StepReport and PhaseReport
std::optional<Divergence> compare_part(const std::string& when, const Part& a, const Part& b) {
  return first_of(when, {{"peak allocated", a.peak_allocated_bytes, b.peak_allocated_bytes},
                         {"peak reserved", a.peak_reserved_bytes, b.peak_reserved_bytes},
                         {"allocated at its end", a.end_allocated_bytes, b.end_allocated_bytes}});
}

std::optional<Divergence> compare_steps(const std::vector<StepReport>& a, const std::vector<StepReport>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const std::string step = fmt::format("step {}", a[i].step);
    for (const PhaseReport& phase : a[i].phases) {
      const auto other = std::find_if(b[i].phases.begin(), b[i].phases.end(),
                                      [&](const PhaseReport& one) { return one.phase == phase.phase; });
      if (other == b[i].phases.end()) continue;
      if (auto found = compare_part(fmt::format("{}, {}", step, name_of(phase.phase)), phase, *other)) return found;
    }
    if (auto found = compare_part(step, a[i], b[i])) return found;
  }
  return std::nullopt;
}

// Points of two timelines fall on the same events only when both runs have equally many; else nothing is said.
std::optional<Divergence> compare_timelines(const std::vector<TimelinePoint>& a, const std::vector<TimelinePoint>& b) {
  std::int64_t last_equal = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i].event != b[i].event) return std::nullopt;
    const std::string when = fmt::format("between events {} and {} (step {}, {})", group_digits(last_equal),
                                         group_digits(a[i].event), a[i].step, name_of(a[i].phase));
    if (auto found = first_of(when, {{"allocated", a[i].allocated_bytes, b[i].allocated_bytes},
                                     {"reserved", a[i].reserved_bytes, b[i].reserved_bytes}}))
      return found;
    last_equal = a[i].event;
  }
  return std::nullopt;
}

void compare_sequences(const MemoryRecord& a, const MemoryRecord& b, const CompareOptions& options,
                       Comparison& result) {
  if (a.events && b.events) {
    const bool mixed = a.events_are_requests != b.events_are_requests;
    result.compared_events = true;
    result.divergence =
        first_divergence(*a.events, *b.events, {options.names, a.events_are_requests, b.events_are_requests});
    if (mixed)
      result.notes.push_back(fmt::format(
          "{} has the sizes that were asked for, {} those of the blocks given: a block may be up to 1 MiB larger",
          (a.events_are_requests ? a : b).name, (a.events_are_requests ? b : a).name));
    return;
  }
  for (const MemoryRecord* one : {&a, &b})
    if (!one->events)
      result.notes.push_back(
          fmt::format("{} has no list of events; `tidemark predict --events FILE` and TIDEMARK_EVENTS=FILE with "
                      "`tidemark run` write one",
                      one->name));
  if (a.steps.empty() || b.steps.empty()) return;
  result.compared_steps = true;
  result.divergence = compare_timelines(a.timeline, b.timeline);
  if (!result.divergence) result.divergence = compare_steps(a.steps, b.steps);
  if (a.steps.size() != b.steps.size())
    result.notes.push_back(fmt::format("{} has {} steps, {} has {}", a.name, a.steps.size(), b.name, b.steps.size()));
}

}  // namespace

MemoryRecord record_of(const Report& report, std::string name) {
  MemoryRecord record;
  record.name = std::move(name);
  record.allocated_bytes = report.peak.allocated_bytes;
  record.reserved_bytes = report.peak.reserved_bytes;
  if (report.peak.device_bytes > 0) record.device_bytes = report.peak.device_bytes;
  if (report.peak.requested_bytes > 0) record.requested_bytes = report.peak.requested_bytes;
  record.by_category = report.at_peak.by_category;
  record.steps = report.steps;
  record.timeline = report.timeline;
  return record;
}

MemoryRecord record_of(std::vector<MemoryEvent> events, std::string name) {
  MemoryRecord record;
  record.name = std::move(name);
  std::int64_t now_bytes = 0, peak_bytes = 0;
  for (const MemoryEvent& event : events) {
    now_bytes = checked_add(now_bytes, event.is_free ? -event.bytes : event.bytes);
    peak_bytes = std::max(peak_bytes, now_bytes);
  }
  record.allocated_bytes = peak_bytes;
  record.events = std::move(events);
  return record;
}

bool Comparison::same() const {
  const auto equal = [](const ComparedBytes& row) { return !row.exact || !row.a || !row.b || row.a == row.b; };
  return !divergence && std::all_of(totals.begin(), totals.end(), equal) &&
         std::all_of(categories.begin(), categories.end(), equal);
}

Comparison compare(const MemoryRecord& a, const MemoryRecord& b, const CompareOptions& options) {
  Comparison result;
  result.name_a = a.name, result.name_b = b.name;
  const auto total = [&](const char* name, std::optional<std::int64_t> of_a, std::optional<std::int64_t> of_b,
                         bool exact = true) {
    if (of_a || of_b) result.totals.push_back({name, of_a, of_b, exact});
  };
  // A snapshot's highest sum of requests, rounded or not, is not what was live when the blocks were highest.
  const bool same_kind = a.events_are_requests == b.events_are_requests;
  total("requested", a.requested_bytes, b.requested_bytes, same_kind);
  total("allocated", a.allocated_bytes, b.allocated_bytes, same_kind);
  total("reserved", a.reserved_bytes, b.reserved_bytes);
  total("device", a.device_bytes, b.device_bytes);
  result.categories = compare_categories(a, b);
  result.notes.insert(result.notes.end(), a.notes.begin(), a.notes.end());
  result.notes.insert(result.notes.end(), b.notes.begin(), b.notes.end());
  compare_sequences(a, b, options, result);
  return result;
}

}  // namespace tidemark
