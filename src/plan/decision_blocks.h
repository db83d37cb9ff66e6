// The blocks of src/plan, in the order in which they are decided.
#pragma once
#include "plan/decision.h"

namespace tidemark::plan {

void add_layout_decisions(std::vector<Decision>& all);
/// What changes the training.
void add_training_decisions(std::vector<Decision>& all);
void add_step_decisions(std::vector<Decision>& all);

/// In ascending order.
std::vector<std::int64_t> divisors(std::int64_t number);

}  // namespace tidemark::plan
