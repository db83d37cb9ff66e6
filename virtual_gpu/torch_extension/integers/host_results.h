// Fresh host tensors that are made of floats which nobody can know: they are not known either, and take no memory.
#pragma once
#include <ATen/core/stack.h>

#include "op_plan.h"

namespace tidemark {

/// If `op` would make one float tensor, element by element or by joining, out of large host tensors without known
/// values, puts it on the stack in the place of the arguments and returns true.
bool make_unknown_result(const c10::OperatorHandle& op, const OpPlan& plan, torch::jit::Stack* stack);

}  // namespace tidemark
