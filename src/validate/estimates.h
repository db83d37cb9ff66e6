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

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

/// Throws Error{bad_value} and Error{unknown_name}: it says either how many bytes or why it says nothing.
Estimate read_estimate(const Value& value, const std::string& where);

/// Gives them to their rows.  Throws Error{bad_value} where a row is not there, or has the estimator's already.
void add_estimates(Corpus& corpus, const std::vector<Estimate>& estimates);

template <class Self, class Visit>
void Estimate::fields(Self& self, Visit&& visit) {
  constexpr const char* kGroup = "estimates.jsonl";
  visit("id", self.id, FieldInfo{.help = "Of the row", .group = kGroup});
  visit("estimator", self.estimator, FieldInfo{.help = "Who was asked", .group = kGroup});
  visit("bytes", self.bytes, FieldInfo{.help = "What it says; null: nothing", .group = kGroup, .low = 0, .high = 1e15});
  visit("refused", self.refused, FieldInfo{.help = "Why it says nothing", .group = kGroup});
  visit("version", self.version, FieldInfo{.help = "Its release", .group = kGroup});
  visit("seconds", self.seconds, FieldInfo{.help = "That it took", .group = kGroup, .low = 0});
}

}  // namespace tidemark
