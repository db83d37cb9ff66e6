// Where a strategy for many GPUs takes part in the loop of train/step.h.
#pragma once
#include <functional>

#include "tensor/tensor.h"

namespace tidemark {

/// Empty ones are not called.
struct StepHooks {
  /// The wrapper's own part of `model(**batch)`, in front of the model's.
  std::function<void()> before_forward;
  /// A parameter's gradient has been accumulated.  torch: a post hook of AccumulateGrad
  std::function<void(const Tensor& parameter)> gradient_is_ready;
};

}  // namespace tidemark
