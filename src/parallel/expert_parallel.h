// Expert parallelism as transformers 5.17.0 does it: distributed/tensor_parallel.py with a model's base_model_ep_plan.
// Every rank runs the same tokens through all but the experts, has a part of the experts of each layer, and adds the
// outputs of all ranks.
#pragma once
#include <memory>

#include "train/hooks.h"

namespace tidemark {

/// apply_tensor_parallelism, before there is memory: each rank keeps its part of every layer's experts (MoEParamShard).
/// Throws Error{bad_value} when they do not divide, Error{unsupported} for a model without experts.
/// The result takes part in the load of the weights, and lives as long.
std::shared_ptr<const ModuleHooks> shard_experts(Module& root, std::int64_t degree);

/// The forwards of routers and experts, wrapped (EpRouterParallel, MoeExpertsParallel), and an optimizer with a group
/// of its own for experts.
StepHooks expert_parallel(Run& run, Module& root, std::int64_t degree);

}  // namespace tidemark
