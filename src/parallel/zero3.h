// DeepSpeed's ZeRO stage 3 (0.19.8) with bf16 enabled: parameters, too, are cut into one part per GPU, and are whole
// only around the calls of the modules that use them.  deepspeed/runtime/zero/stage3.py
#pragma once
#include <limits>
#include <memory>

#include "nn/module.h"
#include "train/hooks.h"

namespace tidemark {

/// As "zero_optimization" and the root of DeepSpeed's configuration name them; sizes are in elements.
struct Zero3Options {
  std::int64_t ranks = 1, rank = 0;
  std::int64_t grad_accumulation = 1;
  std::int64_t reduce_bucket_size = 500'000'000, sub_group_size = 1'000'000'000;
  std::int64_t prefetch_bucket_size = 50'000'000, param_persistence_threshold = 100'000;
  std::int64_t model_persistence_threshold = std::numeric_limits<std::int64_t>::max();  // sys.maxsize
  std::int64_t max_live_parameters = 1'000'000'000, max_reuse_distance = 1'000'000'000;
  bool contiguous_gradients = true, overlap_comm = true, reduce_scatter = true;
  bool offload_optimizer = false, offload_param = false;  // to the host
  double gradient_clipping = 1;
  bool scale_wrt_gas = true;  // DeepSpeedEngine.backward divides the loss by grad_accumulation
};

class ParameterStore;

/// engine = deepspeed.initialize(model, optimizer).  `root` and `run` must outlive the hooks.  `groups`: the
/// optimizer's.  `made`: of a model that was made in parts (zero_init.h), whose adapters alone may be whole.
StepHooks zero3(Run& run, Module& root, const std::vector<TensorList>& groups, const Zero3Options& options,
                std::shared_ptr<ParameterStore> made = nullptr);

}  // namespace tidemark
