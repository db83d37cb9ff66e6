#include "validate/measurement.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "validate/refuse.h"

namespace tidemark {
namespace {

const std::vector<std::string> kGroupFields{"corpus", "family", "modality", "method",     "gpu",
                                            "metric", "model",  "n_gpus",   "environment"};

/// Without the keys whose value is null.
Value without_unknown(const Value& value, const ValuePath& path) {
  if (!value.as_map()) fail_expected("a map", value, path);
  Value said = Value::Map();
  for (const Value::Item& item : *value.as_map())
    if (!item.value.is_null()) said.append(item.key, item.value);
  return said;
}

void check_engine(bool asked, const std::string& reason, const char* name, const Measurement& row) {
  if (!row.left_out && !asked && reason.empty())
    refuse(fmt::format("\"{}\" is missing", name), row.where,
           fmt::format("give it, or say in \"{}_reason\" why it cannot be given", name));
  if (asked && row.left_out) refuse(fmt::format("\"left_out\" and \"{}\" cannot both be said", name), row.where);
  if (asked && !reason.empty()) refuse(fmt::format("\"{0}\" and \"{0}_reason\" cannot both be said", name), row.where);
}

void check(const Measurement& row) {
  const auto require = [&](bool said, const char* key) {
    if (!said) refuse(fmt::format("\"{}\" is missing", key), row.where);
  };
  require(!row.id.empty(), "id");
  require(!row.source.empty(), "source");
  if (row.left_out && row.left_out->empty()) refuse("\"left_out\" says no reason", row.where);
  if (!row.predict.is_null() && !row.predict.as_map()) fail_expected("a map", row.predict, {row.where, "predict"});
  if (row.run) require(!row.run->script.empty(), "run.script");
  check_engine(!row.predict.is_null(), row.predict_reason, "predict", row);
  check_engine(row.run.has_value(), row.run_reason, "run", row);
  if (row.rank >= row.n_gpus) refuse(fmt::format("rank {} of {} GPUs", row.rank, row.n_gpus), row.where);
  if (row.left_out) return;
  require(!row.gpu.empty(), "gpu");
  require(row.metric.has_value(), "metric");
  if (!row.measured_bytes && row.out_of_memory != true)
    refuse("\"measured_bytes\" is missing", row.where, "only a run that is \"out_of_memory\" may have none");
}

void fields_of_engines(Measurement& self, const FieldVisitor& visit) {
  constexpr double kMostBytes = 1e15;
  visit("predict", self.predict, FieldInfo{.help = "The spec that tidemark predict is asked", .group = "Engines"});
  visit("predict_reason", self.predict_reason, FieldInfo{.help = "Why there is none", .group = "Engines"});
  visit("run", self.run, FieldInfo{.help = "The program that tidemark run is given", .group = "Engines"});
  visit("run_reason", self.run_reason, FieldInfo{.help = "Why there is none", .group = "Engines"});
  visit("left_out", self.left_out,
        FieldInfo{.help = "Why no engine can be asked: what the source does not say", .group = "Engines"});
  visit("setting", self.setting,
        FieldInfo{.help = "How each thing is known that the figure depends on", .group = "Evidence"});
  visit("estimates", self.estimates,
        FieldInfo{
            .help = "What others predicted for the run, in bytes", .group = "Evidence", .low = 0, .high = kMostBytes});
  visit("verdicts", self.verdicts,
        FieldInfo{.help = "What they foretold, where it is more than whether the estimate is above the card's memory",
                  .group = "Evidence"});
}

}  // namespace

Measurement read_measurement(const Value& value, const std::string& where) {
  Measurement row;
  row.where = where;
  read_fields(without_unknown(value, where), row, where);
  check(row);
  return row;
}

std::vector<std::string> group_fields() { return kGroupFields; }

void check_group_field(const std::string& name, const std::string& where) {
  if (std::find(kGroupFields.begin(), kGroupFields.end(), name) != kGroupFields.end()) return;
  const std::string near = did_you_mean(name, kGroupFields);
  throw Error(Errc::unknown_name, fmt::format("rows are not grouped by \"{}\"", name), where,
              near.empty() ? fmt::format("they are by {}", fmt::join(kGroupFields, ", ")) : near);
}

std::string group_value(const Measurement& row, const std::string& corpus, const std::string& name) {
  if (name == "corpus") return corpus;
  if (name == "family") return row.family;
  if (name == "modality") return row.modality;
  if (name == "method") return row.method;
  if (name == "gpu") return row.gpu;
  if (name == "metric") return row.metric ? std::string(kMetricNames[static_cast<std::size_t>(*row.metric)]) : "";
  if (name == "model") return row.model;
  if (name == "n_gpus") return fmt::format("{}", row.n_gpus);
  return row.run ? row.run->environment : "";
}

std::string name_of_row(const Measurement& row) {
  return row.where.empty() ? row.id : fmt::format("{}: {}", row.where, row.id);
}

void RunOf::fields(RunOf& self, const FieldVisitor& visit) {
  visit("script", self.script, FieldInfo{.help = "The program, a path from the corpus's folder"});
  visit("arguments", self.arguments, FieldInfo{.help = "Its arguments"});
  visit("start_arguments", self.start_arguments,
        FieldInfo{.help = "Those with which it ends where the measuring began: what it has then, device_over_start "
                          "leaves out (empty: the measuring began before it had anything)"});
  visit("environment", self.environment,
        FieldInfo{.help = "What must be installed, by the name that corpus.json gives it (empty: the default Python)"});
  visit("options", self.options, FieldInfo{.help = "Options of tidemark run, besides the card and the rank"});
}

void PublishedVerdict::fields(PublishedVerdict& self, const FieldVisitor& visit) {
  visit("out_of_memory", self.out_of_memory, FieldInfo{.help = "Whether it foretold that"});
  visit("survived", self.survived,
        FieldInfo{.help = "Whether the run survived when it was limited to the estimate (null: not tried)"});
}

void Measurement::fields(Measurement& self, const FieldVisitor& visit) {
  constexpr double kMostBytes = 1e15;
  visit("id", self.id, FieldInfo{.help = "Unique in its corpus", .group = "What"});
  visit("source", self.source, FieldInfo{.help = "repo@commit file, and where in it", .group = "What"});
  visit("model", self.model, FieldInfo{.help = "As the source names it", .group = "What"});
  visit("family", self.family, FieldInfo{.help = "model_type or architecture", .group = "What"});
  visit("modality", self.modality, FieldInfo{.help = "text, image, multimodal, audio, ...", .group = "What"});
  visit("method", self.method, FieldInfo{.help = "full, lora, qlora, zero2, fsdp2, ...", .group = "What"});
  visit("gpu", self.gpu, FieldInfo{.help = "A name that --gpu knows", .group = "What"});
  visit("memory_bytes", self.memory_bytes,
        FieldInfo{.help = "Another size of that card", .group = "What", .low = 1, .high = kMostBytes});
  visit("n_gpus", self.n_gpus,
        FieldInfo{.help = "GPUs that trained together", .group = "What", .low = 1, .high = 65536});
  visit("rank", self.rank, FieldInfo{.help = "The one that was measured", .group = "What", .low = 0, .high = 65535});
  visit("metric", self.metric,
        FieldInfo{.help = "The peak of what (device_over_start: of the device's memory above what was in use, the "
                          "context included, when the measuring began)",
                  .group = "Measured",
                  .names = kMetricNames});
  visit("measured_bytes", self.measured_bytes,
        FieldInfo{.help = "null: not known", .group = "Measured", .low = 1, .high = kMostBytes});
  visit("rounding_bytes", self.rounding_bytes,
        FieldInfo{.help = "Half a unit of what was published: a prediction so near has no error",
                  .group = "Measured",
                  .low = 0,
                  .high = kMostBytes});
  visit("out_of_memory", self.out_of_memory,
        FieldInfo{.help = "Whether the run ended so; measured_bytes is then no peak and is not compared",
                  .group = "Measured"});
  visit("versions", self.versions, FieldInfo{.help = "As the source states them", .group = "Measured"});
  fields_of_engines(self, visit);
}

}  // namespace tidemark
