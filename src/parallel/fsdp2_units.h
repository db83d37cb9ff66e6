// Which modules are sharded together: one fully_shard call each.
#pragma once
#include <vector>

#include "parallel/fsdp2.h"

namespace tidemark {

struct FsdpUnit {
  std::vector<Module*> modules;  // several: what runs first gathers for all of them, what returns last lets go
  std::int64_t reshard_after_forward = 0;
};

/// In the order of the calls, the root's last.
std::vector<FsdpUnit> fsdp2_units(Module& root, const Fsdp2Options& options);

/// What accelerate still names of the whole parameters while it shards them, in the order in which it lets go of them.
/// accelerate: utils/fsdp_utils.py (1.15.0), fsdp2_prepare_model: `param`, `input_weight` and `output_weight`;
/// accelerator.py, _prepare_fsdp2: `p`, the last of the optimizer's last group
TensorList named_while_prepared(Module& root);

}  // namespace tidemark
