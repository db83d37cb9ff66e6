// What others say of a corpus's rows when a script asks them: the lines of its estimates.jsonl.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "validate/corpus.h"

namespace tidemark {

struct Estimate {
  std::string id, estimator;
  std::optional<std::int64_t> bytes;
  std::string refused, version;
  double seconds = 0;

  std::string where;  // file and line, for messages; no field

  static void fields(Estimate& self, const FieldVisitor& visit);
};

/// Throws Error{bad_value} and Error{unknown_name}: it says either how many bytes or why it says nothing.
Estimate read_estimate(const Value& value, const std::string& where);

/// Gives them to their rows.  Throws Error{bad_value} where a row is not there, or has the estimator's already.
void add_estimates(Corpus& corpus, const std::vector<Estimate>& estimates);

}  // namespace tidemark
