#include "validate/estimates.h"

#include <fmt/format.h>

#include "base/error.h"

namespace tidemark {

Estimate read_estimate(const Value& value, const std::string& where) {
  Estimate estimate;
  read_fields(without_nulls(value, where), estimate, where);
  estimate.where = where;
  const auto refuse = [&](const char* what) { throw Error(Errc::bad_value, what, where); };
  if (estimate.id.empty()) refuse("\"id\" is missing");
  if (estimate.estimator.empty()) refuse("\"estimator\" is missing");
  if (estimate.bytes.has_value() != estimate.refused.empty()) refuse("it has either \"bytes\" or \"refused\"");
  return estimate;
}

void add_estimates(Corpus& corpus, const std::vector<Estimate>& estimates) {
  std::map<std::string, Measurement*> rows;
  for (Measurement& row : corpus.rows) rows.emplace(row.id, &row);
  for (const Estimate& estimate : estimates) {
    const auto row = rows.find(estimate.id);
    if (row == rows.end())
      throw Error(Errc::bad_value, fmt::format("no row has the id \"{}\"", estimate.id), estimate.where);
    if (estimate.bytes && !row->second->estimates.emplace(estimate.estimator, *estimate.bytes).second)
      throw Error(Errc::bad_value, fmt::format("the row has an estimate of {} already", estimate.estimator),
                  estimate.where);
  }
}

void Estimate::fields(Estimate& self, const FieldVisitor& visit) {
  constexpr const char* kGroup = "estimates.jsonl";
  visit("id", self.id, FieldInfo{.help = "Of the row", .group = kGroup});
  visit("estimator", self.estimator, FieldInfo{.help = "Who was asked", .group = kGroup});
  visit("bytes", self.bytes, FieldInfo{.help = "What it says; null: nothing", .group = kGroup, .low = 0, .high = 1e15});
  visit("refused", self.refused, FieldInfo{.help = "Why it says nothing", .group = kGroup});
  visit("version", self.version, FieldInfo{.help = "Its release", .group = kGroup});
  visit("seconds", self.seconds, FieldInfo{.help = "That it took", .group = kGroup, .low = 0});
}

}  // namespace tidemark
