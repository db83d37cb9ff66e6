// torch.distributed.fsdp.fully_shard (torch 2.11.0: torch/distributed/fsdp/_fully_shard): every parameter cut along its
// first dimension, gathered group by group when it is needed, and let go of again.
#pragma once
#include <optional>

#include "nn/module.h"
#include "train/hooks.h"

namespace tidemark {

class TensorParallel;

/// The arguments of fully_shard, by their names.
struct Fsdp2Options {
  std::int64_t ranks = 1, rank = 0;  // of those that shard
  bool has_copies = false;           // the mesh has a first dimension that replicates: HSDP
  /// How many ranks share a group's parameters after its forward: all of them (True), 0 for False, as they stay whole,
  /// or a divisor of `ranks`.  None: all, but for the root's, which stay.
  std::optional<std::int64_t> reshard_after_forward = {};
  std::optional<Dtype> param_dtype = {}, reduce_dtype = {};  // MixedPrecisionPolicy
  bool offload_to_cpu = false;                               // CPUOffloadPolicy
  /// False: set_requires_gradient_sync(False) but for the last backward pass of a step.
  bool requires_gradient_sync = true;
  /// As accelerate (1.15.0) shards a model, whose mixed precision keeps what trains in fp32 and casts what is returned
  /// (utils/fsdp_utils.py, fsdp2_prepare_model; utils/dataclasses.py, set_mixed_precision).
  bool as_accelerate = false;
  std::vector<std::string> layer_classes = {};  // whose modules are layers; none: the modules of every nn.ModuleList
  const TensorParallel* split = nullptr;  // what split modules before, if anything did; asked for in fsdp2() alone
};

/// fully_shard(layer) of every layer of every nn.ModuleList, then fully_shard(root), and what accelerate has besides
/// (fsdp2_units.h).  `root` and `run` must outlive the
/// hooks.  Throws Error{bad_value} for what torch refuses.
StepHooks fsdp2(Run& run, Module& root, const Fsdp2Options& options);

}  // namespace tidemark
