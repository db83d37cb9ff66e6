// What a plan is asked beside the training: what is best, what may change.  The fields are keys of a question's "plan".
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "plan/checkpointing.h"
#include "plan/largest.h"
#include "plan/plan.h"

namespace tidemark::answers {

struct PlanWishes {
  std::string goal, largest, checkpointing_under;  // of these one at most; none: the fastest
  std::map<std::string, double> cheapest;          // likewise: cards by name, and what one costs for an hour
  std::int64_t nodes = 1, samples = 0, answers = 3;
  std::vector<std::string> fix, allow;
  std::vector<std::string> trainers;
  std::string margin;

  static void fields(PlanWishes& self, const FieldVisitor& visit);
};

/// Throws Error{usage} where more than one thing is asked.
void check_one_question(const PlanWishes& wishes);

/// `spec` is what would be run now, `gpus` how many there are, over all nodes.  Throws Error.
plan::Question question_of(const Spec& spec, std::int64_t gpus, const PlanWishes& wishes);

plan::Goal goal_of(const std::string& name, const std::string& where);
plan::Size size_of(const std::string& name, const std::string& where);
/// "24GiB", or "card": 0, for what fits on it.
std::int64_t budget_bytes_of(const std::string& text, const std::string& where);
/// Of a plan of layers to checkpoint everything else stays as it is.
void check_checkpointing_alone(const PlanWishes& wishes, const std::string& where);

}  // namespace tidemark::answers
