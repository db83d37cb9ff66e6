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

}  // namespace tidemark
