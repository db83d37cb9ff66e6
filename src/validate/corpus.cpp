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

void Bar::fields(Bar& self, const FieldVisitor& visit) {
  visit("engine", self.engine, FieldInfo{.help = "Whose answers are meant", .names = kEngineNames});
  visit("where", self.where, FieldInfo{.help = "The rows that are meant: fields and their values (empty: all rows)"});
  visit("statistic", self.statistic, FieldInfo{.help = "What is claimed of", .names = kStatisticNames});
  visit("limit", self.limit, FieldInfo{.help = "Fractions for errors, bytes for mcp_bytes"});
  visit("at", self.at, FieldInfo{.help = "On which side of the limit it is met", .names = kAtNames});
  visit("why", self.why, FieldInfo{.help = "Where the bar comes from"});
}

void NeededEnvironment::fields(NeededEnvironment& self, const FieldVisitor& visit) {
  visit("python", self.python, FieldInfo{.help = "The environment variable that names its interpreter"});
  visit("requirements", self.requirements, FieldInfo{.help = "What is installed there"});
  visit("variables", self.variables,
        FieldInfo{.help = "Set for the run: a name, and the environment variable that holds the value"});
}

void CorpusInfo::fields(CorpusInfo& self, const FieldVisitor& visit) {
  visit("schema", self.schema, FieldInfo{.help = "tidemark.corpus/1", .group = "corpus.json"});
  visit("name", self.name, FieldInfo{.help = "Short, as --by corpus shows it", .group = "corpus.json"});
  visit("title", self.title, FieldInfo{.help = "One line", .group = "corpus.json"});
  visit("source", self.source,
        FieldInfo{.help = "Whose measurements, and where they are published", .group = "corpus.json"});
  visit("bars", self.bars,
        FieldInfo{.help = "What is claimed; the exit code is 1 when one is missed", .group = "corpus.json"});
  visit("environments", self.environments,
        FieldInfo{.help = "What rows need to be run, by name", .group = "corpus.json"});
}

void Answer::fields(Answer& self, const FieldVisitor& visit) {
  visit("id", self.id, FieldInfo{.help = "Of the row", .group = "predictions.jsonl"});
  visit("engine", self.engine,
        FieldInfo{.help = "Whose answer it is", .group = "predictions.jsonl", .names = kEngineNames});
  const FieldInfo peak{.help = "The peak; null: not told", .group = "predictions.jsonl"};
  visit("allocated_bytes", self.allocated_bytes, peak);
  visit("active_bytes", self.active_bytes, peak);
  visit("reserved_bytes", self.reserved_bytes, peak);
  visit("device_bytes", self.device_bytes, peak);
  visit("device_over_start_bytes", self.device_over_start_bytes, peak);
  visit(
      "in_use_at_start_bytes", self.in_use_at_start_bytes,
      FieldInfo{.help = "What the program had of the device when the measuring began: device_over_start leaves it out "
                        "(null: nothing)",
                .group = "predictions.jsonl",
                .low = 0});
  visit("lowest_bytes", self.lowest_bytes,
        FieldInfo{.help = "By metric, where more than one answer is true", .group = "predictions.jsonl"});
  visit("highest_bytes", self.highest_bytes, FieldInfo{.help = "Likewise", .group = "predictions.jsonl"});
  visit("out_of_memory", self.out_of_memory,
        FieldInfo{.help = "Whether it foretells that; peaks are then those until there", .group = "predictions.jsonl"});
  visit("versions", self.versions, FieldInfo{.help = "What it was run with", .group = "predictions.jsonl"});
  visit("seconds", self.seconds, FieldInfo{.help = "That it took", .group = "predictions.jsonl", .low = 0});
}

}  // namespace tidemark
