// torch/optim/rmsprop.py (2.11.0)
#include "base/error.h"
#include "train/optimizer.h"

namespace tidemark {
namespace {

/// RMSprop._init_group: square_avg, momentum_buffer, grad_avg
void init_rmsprop_group(Optimizer& optimizer) {
  const OptimizerOptions& options = optimizer.options;
  const int states = 1 + (options.momentum > 0 ? 1 : 0) + (options.centered ? 1 : 0);
  init_state(optimizer, [&](const Tensor& parameter, ParameterState& state) {
    for (int i = 0; i < states; ++i) state.push_back(fresh("aten::zeros_like", parameter));
  });
}

void single_tensor_rmsprop(Optimizer& optimizer) {
  const OptimizerOptions& options = optimizer.options;
  Tensor grad, avg;
  for (const std::size_t i : with_gradient(optimizer)) {
    grad = optimizer.parameters[i].grad();
    if (options.maximize) grad = fresh("aten::neg", grad);
    if (*options.weight_decay != 0) grad = fresh("aten::add", grad);
    avg = fresh(options.centered ? "aten::addcmul" : "aten::sqrt", optimizer.state[i][0]);
  }
}

void multi_tensor_rmsprop(Optimizer& optimizer) {
  const OptimizerOptions& options = optimizer.options;
  TensorList grouped_grads, avg;
  for (const Chosen& group : grouped(optimizer)) {
    grouped_grads = gradients_of(optimizer, group);
    maximize_and_decay(options, grouped_grads);
    avg = foreach (options.centered ? "aten::_foreach_addcmul" : "aten::_foreach_sqrt", states_of(optimizer, group, 0));
  }
}

void rmsprop_step(Optimizer& optimizer) {
  init_rmsprop_group(optimizer);
  if (optimizer.options.loop == OptimizerLoop::for_loop) return single_tensor_rmsprop(optimizer);
  multi_tensor_rmsprop(optimizer);
}

}  // namespace

Optimizer rmsprop(TensorList parameters, const OptimizerOptions& options) {
  if (options.loop == OptimizerLoop::fused) throw Error(Errc::unsupported, "torch.optim.RMSprop has no fused kernel");
  Optimizer optimizer{.options = options, .parameters = std::move(parameters), .state = {}, .step = rmsprop_step};
  optimizer.options.weight_decay = options.weight_decay.value_or(0);
  return optimizer;
}

}  // namespace tidemark
