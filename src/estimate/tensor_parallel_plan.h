// Plans for parallelize_module by family, where there is one.
#pragma once
#include <string>
#include <vector>

#include "estimate/spec.h"
#include "parallel/tensor_parallel.h"

namespace tidemark {

/// transformers' own base_model_tp_plan (5.17.0: configuration_*.py), or with `sequence_parallel` the plan of PyTorch's
/// tutorial on tensor parallelism.  Throws Error{unsupported} for a family that has none.
std::vector<ParallelRule> default_plan(Module& root, bool sequence_parallel, const Value& model_config);

/// Throws Error for heads that the plan would cut, and for attention that does not find out how many it has.
void check_heads(const std::vector<ParallelRule>& plan, std::int64_t degree, const Value& model_config);

}  // namespace tidemark
