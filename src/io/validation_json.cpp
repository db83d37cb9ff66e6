#include "io/validation_json.h"

#include "io/value_json.h"

namespace tidemark::io {
namespace {

Value number(const std::optional<double>& value) { return value ? Value(*value) : Value(); }
Value number(const std::optional<std::int64_t>& value) { return value ? Value(*value) : Value(); }
Value truth(const std::optional<bool>& value) { return value ? Value(*value) : Value(); }
Value name(Engine engine) { return Value(kEngineNames[static_cast<std::size_t>(engine)]); }

Value statistics(const Statistics& s) {
  Value json = Value::Map{{"n", s.n},
                          {"mape", number(s.mape)},
                          {"median", number(s.median)},
                          {"p90", number(s.p90)},
                          {"max", number(s.max)},
                          {"signed_mean", number(s.signed_mean)},
                          {"under_predictions", s.under_predictions},
                          {"verdicts", s.verdicts}};
  json.set("margin_p50", number(s.margin_p50));
  json.set("margin_p90", number(s.margin_p90));
  json.set("margin_p99", number(s.margin_p99));
  json.set("false_refusals", s.false_refusals);
  json.set("missed_ooms", s.missed_ooms);
  json.set("oom_agreement", number(s.oom_agreement));
  json.set("judged", s.judged);
  json.set("not_known", s.not_known);
  json.set("pef", number(s.pef));
  json.set("mcp_bytes", number(s.mcp_bytes));
  return json;
}

Value group(const Group& one, const std::vector<std::string>& by) {
  Value key = Value::Map(), rivals = Value::Map();
  for (std::size_t i = 0; i < one.values.size(); ++i) key.append(by[i], Value(one.values[i]));
  for (const auto& [rival, figures] : one.rivals) rivals.append(rival, statistics(figures));
  return Value::Map{
      {"group", std::move(key)}, {"statistics", statistics(one.statistics)}, {"rivals", std::move(rivals)}};
}

Value bounds(const Answer& answer, Metric metric) {
  const std::string key(kMetricNames[static_cast<std::size_t>(metric)]);
  const auto low = answer.lowest_bytes.find(key), high = answer.highest_bytes.find(key);
  if (low == answer.lowest_bytes.end() || high == answer.highest_bytes.end()) return {};
  return Value::List{low->second, high->second};
}

Value row(const Prediction& one) {
  const Measurement& measured = *one.row;
  Value json = Value::Map{{"corpus", one.corpus->info.name}, {"id", measured.id}};
  for (const std::string& field : group_fields())
    if (field != "corpus") json.append(field, Value(group_value(measured, one.corpus->info.name, field)));
  json.append("measured_bytes", number(measured.measured_bytes));
  json.append("predicted_bytes", one.scored.predicted_bytes);
  json.append("card_bytes", one.scored.card_bytes);
  json.append("interval_bytes", bounds(one.answer, *measured.metric));
  json.append("error", number(signed_error(one.scored)));
  json.append("out_of_memory", truth(measured.out_of_memory));
  json.append("predicted_out_of_memory", one.scored.predicted_out_of_memory);
  Value estimates = Value::Map(), versions = Value::Map();
  for (const auto& [rival, bytes] : measured.estimates) estimates.append(rival, bytes);
  for (const auto& [what, version] : one.answer.versions) versions.append(what, Value(version));
  json.append("estimates", std::move(estimates));
  json.append("versions", std::move(versions));
  return json;
}

Value engine_result(const EngineResult& engine, const std::vector<std::string>& by) {
  Value::List groups, rows;
  for (const Group& one : engine.groups) groups.push_back(group(one, by));
  for (const Prediction& one : engine.predictions) rows.push_back(row(one));
  return Value::Map{{"engine", name(engine.engine)},
                    {"stored", engine.stored},
                    {"groups", std::move(groups)},
                    {"all", group(engine.total, by)},
                    {"rows", std::move(rows)}};
}

Value bar(const BarResult& one) {
  Value where = Value::Map();
  for (const auto& [field, value] : one.bar.where) where.append(field, Value(value));
  return Value::Map{{"corpus", one.corpus},
                    {"engine", name(one.bar.engine)},
                    {"where", std::move(where)},
                    {"statistic", Value(kStatisticNames[static_cast<std::size_t>(one.bar.statistic)])},
                    {"limit", one.bar.limit},
                    {"at", Value(kAtNames[static_cast<std::size_t>(one.bar.at)])},
                    {"why", one.bar.why},
                    {"value", number(one.value)},
                    {"met", one.met}};
}

}  // namespace

std::string validation_to_json(const Validation& validation) {
  Value::List corpora, by, engines, bars, left_out;
  for (const Corpus* corpus : validation.corpora)
    corpora.push_back(Value::Map{{"name", corpus->info.name},
                                 {"title", corpus->info.title},
                                 {"source", corpus->info.source},
                                 {"rows", static_cast<std::int64_t>(corpus->rows.size())}});
  for (const std::string& field : validation.by) by.emplace_back(field);
  for (const EngineResult& engine : validation.engines) engines.push_back(engine_result(engine, validation.by));
  for (const BarResult& one : validation.bars) bars.push_back(bar(one));
  for (const LeftOut& one : validation.left_out)
    left_out.push_back(Value::Map{{"corpus", one.corpus},
                                  {"id", one.id},
                                  {"engine", one.engine ? name(*one.engine) : Value()},
                                  {"reason", one.reason},
                                  {"failed", one.failed}});
  Value versions = Value::Map();
  for (const auto& [what, version] : validation.versions) versions.append(what, Value(version));
  return value_to_json(Value::Map{{"schema", kValidationSchema},
                                  {"corpora", std::move(corpora)},
                                  {"by", std::move(by)},
                                  {"engines", std::move(engines)},
                                  {"bars", std::move(bars)},
                                  {"left_out", std::move(left_out)},
                                  {"versions", std::move(versions)}});
}

}  // namespace tidemark::io
