// Float data on the host that nobody reads: parameters before they are trained.  Initialising gigabytes of it would cost minutes and
// the host's memory, and no byte on the card depends on it.
#pragma once
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include "op_plan.h"

namespace tidemark {

/// If `op` would only write, move or convert large float host data whose values are not known anyway (uninitialised, random), does
/// the operation's bookkeeping without its work and returns true; the stack then holds its results.
bool skip_host_data(const c10::OperatorHandle& op, const OpPlan& plan, torch::jit::Stack* stack);
/// After an operation that ran: remembers fresh uninitialised host tensors, forgets those that got data.
void note_host_data(const OpPlan& plan, const std::vector<c10::IValue>& arguments, const torch::jit::Stack& results, std::size_t first_result);

}  // namespace tidemark
