// torch.distributed.fsdp.FullyShardedDataParallel (torch 2.11.0: torch/distributed/fsdp), with use_orig_params: every
// layer's parameters laid end to end and cut into one part per GPU.
#pragma once
#include <optional>

#include "nn/module.h"
#include "train/hooks.h"

namespace tidemark {

struct Fsdp1Options {
  std::int64_t ranks = 2, rank = 0;                          // of those that shard
  bool has_copies = false;                                   // HYBRID_SHARD, _HYBRID_SHARD_ZERO2
  bool reshard_after_forward = true;                         // FULL_SHARD; SHARD_GRAD_OP
  std::optional<Dtype> param_dtype = {}, reduce_dtype = {};  // MixedPrecision
  std::vector<std::string> layer_classes = {};               // whose modules are layers; none: of every nn.ModuleList
};

/// FullyShardedDataParallel(root) with an auto_wrap_policy that takes every layer of every nn.ModuleList.  `root` and
/// `run` must outlive the hooks.  All parameters are trained.
StepHooks fsdp1(Run& run, Module& root, const Fsdp1Options& options);

}  // namespace tidemark
