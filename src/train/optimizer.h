// torch.optim: what each optimizer allocates in a step.  One file per optimizer.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ops/ops.h"

namespace tidemark {

/// torch: _default_to_fused_or_foreach: foreach, unless the caller says otherwise.
enum class OptimizerLoop { foreach, fused, for_loop };

struct OptimizerOptions {
  OptimizerLoop loop = OptimizerLoop::foreach;
  double momentum = 0;
  std::optional<double> weight_decay;
  bool amsgrad = false, nesterov = false, centered = false, maximize = false;
};

/// The state of one parameter, in the order in which the optimizer makes it; empty before the first step.
using ParameterState = Tensors;

struct Optimizer;
using OptimizerStep = void (*)(Optimizer& optimizer);

struct Optimizer {
  OptimizerOptions options;
  std::vector<Tensor> parameters;  // trainable, in the order of model.parameters()
  std::vector<ParameterState> state;
  OptimizerStep step;
};

void adamw_step(Optimizer& optimizer);

/// optimizer.zero_grad(set_to_none)
void zero_grad(Optimizer& optimizer, bool set_to_none);

}  // namespace tidemark
