// torch/optim/adagrad.py (2.11.0; fused 2.12.1).  Its state is made with the optimizer, not in the first step.
#include "base/error.h"
#include "tensor/torch_rules.h"
#include "train/optimizer.h"

namespace tidemark {
namespace {

void single_tensor_adagrad(Optimizer& optimizer) {
  const OptimizerOptions& options = optimizer.options;
  Tensor grad, std;
  for (const std::size_t i : with_gradient(optimizer)) {
    grad = optimizer.parameters[i].grad();
    if (options.maximize) grad = fresh("aten::neg", grad);
    if (*options.weight_decay != 0) grad = fresh("aten::add", grad);
    std = fresh("aten::sqrt", optimizer.state[i][0]);
  }
}

void multi_tensor_adagrad(Optimizer& optimizer) {
  const OptimizerOptions& options = optimizer.options;
  TensorList device_grads, std, numerator;
  for (const Chosen& group : grouped(optimizer)) {
    device_grads = gradients_of(optimizer, group);
    maximize_and_decay(options, device_grads);
    std = foreach ("aten::_foreach_sqrt", states_of(optimizer, group, 0));
    const bool reuse = *options.weight_decay != 0 || options.maximize;
    numerator = reuse ? device_grads : foreach ("aten::_foreach_mul", device_grads);
  }
}

void adagrad_step(Optimizer& optimizer) {
  if (optimizer.options.loop == OptimizerLoop::fused) return;  // one kernel, in place
  if (optimizer.options.loop == OptimizerLoop::for_loop) return single_tensor_adagrad(optimizer);
  multi_tensor_adagrad(optimizer);
}

}  // namespace

Optimizer adagrad(TensorList parameters, const OptimizerOptions& options) {
  const bool fused = options.loop == OptimizerLoop::fused;
  if (fused && !parameters.front().run().torch().fuses_adagrad)
    throw Error(Errc::unsupported, "torch.optim.Adagrad has no fused kernel on CUDA before torch 2.12",
                "optimizer_impl");
  Optimizer optimizer{.options = options, .parameters = std::move(parameters), .state = {}, .step = adagrad_step};
  optimizer.options.weight_decay = options.weight_decay.value_or(0);
  const Setting<Category> category(optimizer.run().category, Category::optimizer_state);
  for (const Tensor& parameter : optimizer.parameters) {
    ParameterState state;
    if (fused) state.push_back(zeros(parameter.run(), {}, Dtype::f32));  // step, which else is on the host
    state.push_back(fresh("aten::full_like", parameter));
    optimizer.state.push_back(std::move(state));
  }
  optimizer.supports_amp_scaling = fused;
  return optimizer;
}

}  // namespace tidemark
