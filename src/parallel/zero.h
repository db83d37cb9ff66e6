// DeepSpeed's ZeRO (0.19.8) with bf16 enabled: optimizer states, gradients and parameters cut into one part per GPU.
// Stages 1 and 2: deepspeed/runtime/zero/stage_1_and_2.py.
#pragma once
#include "nn/module.h"
#include "train/hooks.h"

namespace tidemark {

/// As "zero_optimization" and the root of DeepSpeed's configuration name them.
struct ZeroOptions {
  int stage = 2;
  std::int64_t ranks = 1, rank = 0;
  std::int64_t grad_accumulation = 1;
  std::int64_t reduce_bucket_size = 500'000'000;  // elements
  bool contiguous_gradients = true, overlap_comm = false;
  bool reduce_scatter = true, use_multi_rank_bucket_allreduce = true;
  bool offload_optimizer = false;  // to the host
  double gradient_clipping = 1;
  bool scale_wrt_gas = true;  // DeepSpeedEngine.backward divides the loss by grad_accumulation
};

/// engine = deepspeed.initialize(model, optimizer).  `root` and `run` must outlive the hooks.  `groups`: the
/// optimizer's. Parameters that are not bf16, such as adapters in fp32, are converted on the device.
StepHooks zero(Run& run, Module& root, const std::vector<TensorList>& groups, const ZeroOptions& options);

}  // namespace tidemark
