// Integers and booleans that a real card would compute from float data.  Floats are not computed, so these are decided,
// and said.
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

#include "host_twin.h"
#include "op_plan.h"

namespace tidemark {

/// How the top-k of a mixture-of-experts router falls: `skew` of the tokens choose the first experts, the rest go round
/// in turn.
struct Routing {
  double skew = 0.0;
};
void set_routing(Routing routing);

/// Fills the integer tensors among `outputs` of an operation that read floats: finite, not NaN, comparisons false,
/// order as it stands, top-k as the routing says, everything else zero.
void decide(const OpPlan& plan, const Arguments& arguments, const std::vector<at::Tensor>& outputs);

/// Fills the integers that an operation makes in the shape of floats alone (`OpPlan::like_in_shape`).
void fill_like(const OpPlan& plan, const Arguments& arguments, const std::vector<at::Tensor>& outputs,
               bool under_a_mode);

/// Two tensors that are the same bytes are equal whatever they hold; of other floats nothing is known.
bool are_the_same_bytes(const c10::IValue& one, const c10::IValue& other);

}  // namespace tidemark
