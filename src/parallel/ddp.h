// torch.nn.parallel.DistributedDataParallel (torch 2.11.0: torch/nn/parallel/distributed.py and
// torch/csrc/distributed/c10d/reducer.cpp): a copy of the model per GPU, gradients averaged in buckets.
#pragma once
#include "nn/module.h"
#include "train/hooks.h"

namespace tidemark {

struct DdpOptions {
  std::int64_t ranks = 1;
  double bucket_cap_mb = 25;
  bool gradient_as_bucket_view = false, broadcast_buffers = true;
  bool find_unused_parameters = false, static_graph = false;
};

/// module = DistributedDataParallel(module, **options).  `root` and `run` must outlive the hooks.
StepHooks ddp(Run& run, Module& root, const DdpOptions& options);

}  // namespace tidemark
