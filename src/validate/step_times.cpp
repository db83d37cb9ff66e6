#include "validate/step_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "validate/refuse.h"

namespace tidemark {
namespace {

void add_ranking(const std::vector<TimedEstimate>& all, TimeStatistics& result) {
  std::map<std::string, std::vector<const TimedEstimate*>> sets;
  for (const TimedEstimate& one : all)
    if (!one.row->ranked_among.empty()) sets[one.row->ranked_among].push_back(&one);
  double balance = 0;
  for (const auto& [ignored, set] : sets)
    for (std::size_t i = 0; i < set.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const double measured = set[i]->row->seconds - set[j]->row->seconds;
        if (measured == 0) continue;
        ++result.pairs;
        const double estimated = set[i]->seconds - set[j]->seconds;
        if (estimated != 0) balance += (measured > 0) == (estimated > 0) ? 1 : -1;
      }
  if (result.pairs > 0) result.kendall_tau = balance / result.pairs;
}

}  // namespace

TimesInfo read_times_info(const Value& value, const std::string& where) {
  TimesInfo info;
  read_fields(value, info, where);
  if (info.schema != kStepTimesSchema)
    refuse(fmt::format("expected \"{}\", found \"{}\"", kStepTimesSchema, info.schema), where + ": schema");
  if (info.name.empty()) refuse("\"name\" is missing", where);
  for (const TimeBar& bar : info.bars) is_meant(bar, TimedRow(), where);
  return info;
}

TimedRow read_timed_row(const Value& value, const std::string& where) {
  TimedRow row;
  row.where = where;
  read_fields(without_nulls(value, where), row, where);
  if (row.id.empty()) refuse("\"id\" is missing", where);
  if (row.source.empty()) refuse("\"source\" is missing", where);
  if (row.left_out) return row;
  if (row.gpu.empty()) refuse("\"gpu\" is missing", where);
  if (!(row.seconds > 0)) refuse("\"seconds\" is missing", where);
  if (!row.spec.as_map()) refuse("\"spec\" is missing", where);
  return row;
}

TimeStatistics time_statistics(const std::vector<TimedEstimate>& all) {
  TimeStatistics result;
  std::vector<double> sizes;
  double sum = 0;
  for (const TimedEstimate& one : all) {
    if (one.row->ranked_alone) continue;
    sizes.push_back(std::abs(one.error()));
    sum += one.error();
  }
  add_ranking(all, result);
  if (sizes.empty()) return result;
  std::sort(sizes.begin(), sizes.end());
  const std::size_t n = sizes.size();
  result.n = static_cast<double>(n);
  result.median = (sizes[(n - 1) / 2] + sizes[n / 2]) / 2;
  result.p90 = sizes[(9 * n + 9) / 10 - 1];
  result.signed_mean = sum / result.n;
  return result;
}

std::optional<double> TimeStatistics::value(TimeStatistic statistic) const {
  switch (statistic) {
    case TimeStatistic::n: return n;
    case TimeStatistic::median: return median;
    case TimeStatistic::p90: return p90;
    case TimeStatistic::signed_mean: return signed_mean;
    case TimeStatistic::kendall_tau: return kendall_tau;
    case TimeStatistic::pairs: return pairs;
  }
  return std::nullopt;
}

std::string time_field(const TimedRow& row, const std::string& name, const std::string& where) {
  if (name == "gpu") return row.gpu;
  if (name == "group") return row.group;
  if (name == "model") return row.model;
  throw Error(Errc::unknown_name, fmt::format("rows have no \"{}\"", name), where, "they have gpu, group, model");
}

bool is_meant(const TimeBar& bar, const TimedRow& row, const std::string& where) {
  return std::all_of(bar.where.begin(), bar.where.end(),
                     [&](const auto& wanted) { return time_field(row, wanted.first, where) == wanted.second; });
}

void TimeBar::fields(TimeBar& self, const FieldVisitor& visit) {
  visit("where", self.where, FieldInfo{.help = "The rows that are meant: gpu, group or model (empty: all rows)"});
  visit("statistic", self.statistic, FieldInfo{.help = "What is claimed of", .names = kTimeStatisticNames});
  visit("limit", self.limit, FieldInfo{.help = "Fractions for errors"});
  visit("at", self.at, FieldInfo{.help = "On which side of the limit it is met", .names = kAtNames});
  visit("why", self.why, FieldInfo{.help = "Where the bar comes from"});
}

void TimedRow::fields(TimedRow& self, const FieldVisitor& visit) {
  visit("id", self.id, FieldInfo{.help = "Unique in its corpus"});
  visit("source", self.source, FieldInfo{.help = "repo@commit file, and where in it"});
  visit("model", self.model, FieldInfo{.help = "As the source names it"});
  visit("gpu", self.gpu, FieldInfo{.help = "A name that --gpu knows"});
  visit("group", self.group, FieldInfo{.help = "What bars tell apart, such as one node from several"});
  visit("seconds", self.seconds, FieldInfo{.help = "Of one optimizer step", .low = 0, .high = 1e6});
  visit("network_bytes_per_s", self.network_bytes_per_s,
        FieldInfo{.help = "One direction of one GPU's port to other nodes, as the source states it (0: not stated)",
                  .low = 0,
                  .high = 1e13});
  visit("kernels", self.kernels,
        FieldInfo{.help = "A row of data/efficiency.json, where other kernels ran than the card has today"});
  visit("parts_between_stages", self.parts_between_stages,
        FieldInfo{.help = "Ranks that share matrices each send a part to the next stage, and gather the rest"});
  visit("spec", self.spec, FieldInfo{.help = "What was trained"});
  visit("ranked_among", self.ranked_among,
        FieldInfo{.help = "Rows of the same text are ways to train the same, of which a plan chooses"});
  visit("ranked_alone", self.ranked_alone,
        FieldInfo{.help = "Its place among them is scored, and not its seconds: what they depend on is not stated"});
  visit("left_out", self.left_out, FieldInfo{.help = "Why it cannot be scored: what the source does not say"});
}

void TimesInfo::fields(TimesInfo& self, const FieldVisitor& visit) {
  visit("schema", self.schema, FieldInfo{.help = "tidemark.step-times/1"});
  visit("name", self.name, FieldInfo{.help = "Short"});
  visit("title", self.title, FieldInfo{.help = "One line"});
  visit("source", self.source, FieldInfo{.help = "Whose measurements, and where they are published"});
  visit("bars", self.bars, FieldInfo{.help = "What is claimed; the exit code is 1 when one is missed"});
}

}  // namespace tidemark
