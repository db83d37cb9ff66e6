#include "validate/corpus.h"

#include <fmt/format.h>

#include <set>

#include "base/bytes.h"
#include "validate/refuse.h"

namespace tidemark {
namespace {

void check_bytes_by_metric(const std::map<std::string, std::int64_t>& bytes, const std::string& key,
                           const std::string& where) {
  for (const auto& [metric, ignored] : bytes)
    fields_detail::index_of_name(metric, FieldInfo{.names = kMetricNames}, ValuePath(where) / key);
}

}  // namespace

Value without_nulls(const Value& value, const std::string& where) {
  if (!value.as_map()) fail_expected("a map", value, where);
  Value said = Value::Map();
  for (const Value::Item& item : *value.as_map())
    if (!item.value.is_null()) said.append(item.key, item.value);
  return said;
}

std::optional<std::int64_t> Answer::bytes(Metric metric) const {
  switch (metric) {
    case Metric::allocated: return allocated_bytes;
    case Metric::active: return active_bytes;
    case Metric::reserved: return reserved_bytes;
    case Metric::device: return device_bytes;
    case Metric::device_over_start: return device_over_start_bytes;
  }
  return std::nullopt;
}

CorpusInfo read_corpus_info(const Value& value, const std::string& where) {
  CorpusInfo info;
  read_fields(value, info, where);
  if (info.schema != kCorpusSchema)
    refuse(fmt::format("expected \"{}\", found \"{}\"", kCorpusSchema, info.schema), where + ": schema");
  if (info.name.empty()) refuse("\"name\" is missing", where);
  for (std::size_t i = 0; i < info.bars.size(); ++i)
    for (const auto& [field, ignored] : info.bars[i].where)
      check_group_field(field, fmt::format("{}: bars[{}].where", where, i));
  return info;
}

Answer read_answer(const Value& value, const std::string& where) {
  Answer answer;
  read_fields(without_nulls(value, where), answer, where);
  if (answer.id.empty()) refuse("\"id\" is missing", where);
  check_bytes_by_metric(answer.lowest_bytes, "lowest_bytes", where);
  check_bytes_by_metric(answer.highest_bytes, "highest_bytes", where);
  return answer;
}

void check_corpus(const Corpus& corpus) {
  std::map<std::string, const Measurement*> rows;
  for (const Measurement& row : corpus.rows)
    if (!rows.emplace(row.id, &row).second) refuse(fmt::format("the id \"{}\" is given twice", row.id), row.where);
  std::set<std::string> answered;
  const std::string where = corpus.folder + "/predictions.jsonl";
  for (const Answer& answer : corpus.stored) {
    const auto row = rows.find(answer.id);
    if (row == rows.end()) refuse(fmt::format("no row has the id \"{}\"", answer.id), where);
    if (answer.engine != Engine::run) refuse(fmt::format("{}: answers of predict are not stored", answer.id), where);
    if (!row->second->run) refuse(fmt::format("{}: the row has no \"run\"", answer.id), where);
    if (!answered.insert(answer.id).second) refuse(fmt::format("the id \"{}\" is given twice", answer.id), where);
  }
}

namespace {

/// The context is there when the measuring begins; libraries and communicators come later.
std::int64_t before_programs(const Report& report) {
  return checked_add(report.card.context_bytes, report.card.driver_reserved_bytes);
}

}  // namespace

void leave_out_start(Answer& answer, const Report& start) {
  constexpr const char* kMetric = "device_over_start";
  const std::int64_t whole = answer.device_over_start_bytes.value();
  const std::int64_t in_use = start.peak.device_bytes - before_programs(start);
  answer.in_use_at_start_bytes = in_use;
  answer.lowest_bytes.try_emplace(kMetric, whole).first->second -= in_use;
  answer.highest_bytes.try_emplace(kMetric, whole);
  answer.device_over_start_bytes = whole - in_use;
}

Answer answer_of(const Report& report, const Measurement& row) {
  Answer answer;
  answer.id = row.id;
  answer.engine = report.engine == "predict" ? Engine::predict : Engine::run;
  answer.allocated_bytes = report.peak.allocated_bytes;
  answer.reserved_bytes = report.peak.reserved_bytes;
  answer.device_bytes = report.peak.device_bytes;
  const std::int64_t at_start = before_programs(report);
  answer.device_over_start_bytes = report.peak.device_bytes - at_start;
  if (const auto& interval = report.interval) {
    const std::int64_t above = report.peak.device_bytes - report.peak.reserved_bytes;
    const auto between = [&](const char* metric, std::int64_t low, std::int64_t high) {
      if (low == high) return;
      answer.lowest_bytes[metric] = low;
      answer.highest_bytes[metric] = high;
    };
    between("allocated", interval->allocated_low_bytes, interval->allocated_high_bytes);
    between("reserved", interval->reserved_low_bytes, interval->reserved_high_bytes);
    between("device", interval->reserved_low_bytes + above, interval->reserved_high_bytes + above);
    between("device_over_start", interval->reserved_low_bytes + above - at_start,
            interval->reserved_high_bytes + above - at_start);
  }
  answer.out_of_memory = report.fits == false;
  answer.versions = report.versions;
  answer.seconds = report.host.seconds;
  return answer;
}

}  // namespace tidemark
