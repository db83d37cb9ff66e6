#include "plan/decision.h"

#include <algorithm>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "plan/decision_blocks.h"

namespace tidemark::plan {

std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> found;
  for (std::int64_t low = 1; low * low <= number; ++low)
    if (number % low == 0) {
      found.push_back(low);
      if (low * low != number) found.push_back(number / low);
    }
  std::sort(found.begin(), found.end());
  return found;
}

std::span<const Decision> decisions() {
  static const std::vector<Decision> all = [] {
    std::vector<Decision> blocks;
    add_training_decisions(blocks);
    add_layout_decisions(blocks);
    add_step_decisions(blocks);
    return blocks;
  }();
  return all;
}

const Decision& decision(std::string_view name, const std::string& where) {
  std::vector<std::string> known;
  for (const Decision& one : decisions()) {
    if (one.name == name) return one;
    known.emplace_back(one.name);
  }
  std::string hint = did_you_mean(name, known);
  if (hint.empty()) {
    hint = "there are";
    for (const std::string& one : known) hint += (one == known.front() ? " " : ", ") + one;
  }
  throw Error(Errc::unknown_name, "there is no decision " + Value(name).quoted(), where, hint);
}

std::int64_t data_parallel_ranks(const Spec& spec) {
  if (spec.parallel == Parallel::ep) return 1;  // every rank has the same tokens (docs/howto/many-gpus.md)
  const std::int64_t same =
      (spec.tp ? spec.tp->degree : 1) * (spec.pp ? spec.pp->degree : 1) * (spec.cp ? spec.cp->degree : 1);
  return std::max<std::int64_t>(spec.gpus / same, 1);
}

}  // namespace tidemark::plan
