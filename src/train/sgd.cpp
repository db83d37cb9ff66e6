// torch/optim/sgd.py (2.11.0).  The one state is the momentum buffer.
#include "train/optimizer.h"

namespace tidemark {
namespace {

void single_tensor_sgd(Optimizer& optimizer) {
  const OptimizerOptions& options = optimizer.options;
  Tensor grad, buf;
  for (const std::size_t i : with_gradient(optimizer)) {
    const Tensor& parameter = optimizer.parameters[i];
    grad = options.maximize ? fresh("aten::neg", parameter.grad()) : parameter.grad();
    if (*options.weight_decay != 0) grad = fresh("aten::add", grad);
    if (options.momentum == 0) continue;
    ParameterState& state = optimizer.state[i];
    if (state.empty()) {
      const Setting<Category> category(optimizer.run().category, Category::optimizer_state);
      state.push_back(fresh("aten::clone", grad));
    }
    buf = state[0];
    grad = options.nesterov ? fresh("aten::add", grad) : buf;
  }
}

/// The first step clones the gradients one by one.
TensorList momentum_buffers(Optimizer& optimizer, const Chosen& group, const TensorList& device_grads) {
  const Setting<Category> category(optimizer.run().category, Category::optimizer_state);
  for (std::size_t i = 0; i < group.size(); ++i)
    if (ParameterState& state = optimizer.state[group[i]]; state.empty())
      state.push_back(fresh("aten::clone", device_grads[i]));
  return states_of(optimizer, group, 0);
}

void multi_tensor_sgd(Optimizer& optimizer) {
  const OptimizerOptions& options = optimizer.options;
  TensorList device_grads;
  for (const Chosen& group : grouped(optimizer)) {
    device_grads = gradients_of(optimizer, group);
    maximize_and_decay(options, device_grads);
    if (options.momentum == 0) continue;
    TensorList bufs = momentum_buffers(optimizer, group, device_grads);
    if (!options.nesterov) device_grads = std::move(bufs);
  }
}

void fused_sgd(Optimizer& optimizer) {
  if (optimizer.options.momentum == 0) return;
  const Setting<Category> category(optimizer.run().category, Category::optimizer_state);
  for (const std::size_t i : with_gradient(optimizer))
    if (ParameterState& state = optimizer.state[i]; state.empty())
      state.push_back(fresh("aten::empty_like", optimizer.parameters[i].grad()));
}

void sgd_step(Optimizer& optimizer) {
  optimizer.state.resize(optimizer.parameters.size());
  if (optimizer.options.loop == OptimizerLoop::fused) return fused_sgd(optimizer);
  if (optimizer.options.loop == OptimizerLoop::for_loop) return single_tensor_sgd(optimizer);
  multi_tensor_sgd(optimizer);
}

}  // namespace

Optimizer sgd(TensorList parameters, const OptimizerOptions& options) {
  Optimizer optimizer{.options = options, .parameters = std::move(parameters), .state = {}, .step = sgd_step};
  optimizer.options.weight_decay = options.weight_decay.value_or(0);
  if (options.loop == OptimizerLoop::automatic) optimizer.options.loop = OptimizerLoop::foreach;
  optimizer.supports_amp_scaling = options.loop == OptimizerLoop::fused;
  return optimizer;
}

}  // namespace tidemark
