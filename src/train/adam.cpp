// torch/optim/{adam,adamw}.py (2.11.0).  AdamW is Adam with decoupled_weight_decay: it decays the weights in place.
#include "train/optimizer.h"

namespace tidemark {
namespace {

/// Adam._init_group: step (on the device for the fused kernel), exp_avg, exp_avg_sq, max_exp_avg_sq
void init_adam_group(Optimizer& optimizer) {
  const OptimizerOptions& options = optimizer.options;
  init_state(optimizer, [&](const Tensor& parameter, ParameterState& state) {
    if (options.loop == OptimizerLoop::fused) state.push_back(zeros(parameter.run(), {}, Dtype::f32));
    for (int moment = 0; moment < (options.amsgrad ? 3 : 2); ++moment)
      state.push_back(fresh("aten::zeros_like", parameter));
  });
}

/// What exp_avg.lerp_(grad, …) and exp_avg_sq.addcmul_(grad, grad) make of gradients that lie otherwise.
void read_gradients(const Optimizer& optimizer, const Chosen& chosen, const char* lerp, const char* addcmul) {
  if (optimizer.gradient_placements.empty()) return;
  {
    const Op op(optimizer.run(), lerp);
    moved_gradients(optimizer, chosen);
  }
  const Op op(optimizer.run(), addcmul);
  const TensorList first = moved_gradients(optimizer, chosen), second = moved_gradients(optimizer, chosen);
}

void single_tensor_adam(Optimizer& optimizer) {
  const OptimizerOptions& options = optimizer.options;
  Tensor grad, denom;
  for (const std::size_t i : with_gradient(optimizer)) {
    const Tensor& parameter = optimizer.parameters[i];
    grad = options.maximize ? fresh("aten::neg", parameter.grad()) : parameter.grad();
    if (*options.weight_decay != 0) grad = fresh("aten::add", grad);
    read_gradients(optimizer, {i}, "aten::lerp_", "aten::addcmul_");
    const Tensor root = fresh("aten::sqrt", optimizer.state[i].back());
    denom = fresh("aten::div", root);
  }
}

void multi_tensor_adam(Optimizer& optimizer) {
  const OptimizerOptions& options = optimizer.options;
  TensorList exp_avg_sq_sqrt;
  for (const Chosen& group : grouped(optimizer)) {
    TensorList device_grads = gradients_of(optimizer, group);
    maximize_and_decay(options, device_grads);
    read_gradients(optimizer, group, "aten::_foreach_lerp_", "aten::_foreach_addcmul_");
    device_grads.clear();  // del device_grads
    exp_avg_sq_sqrt = foreach ("aten::_foreach_sqrt", states_of(optimizer, group, options.amsgrad ? 2 : 1));
  }
}

void adam_step(Optimizer& optimizer) {
  init_adam_group(optimizer);
  if (optimizer.options.loop == OptimizerLoop::fused) {  // one kernel, in place
    const Op op(optimizer.run(), "aten::_fused_adamw_");
    moved_gradients(optimizer, with_gradient(optimizer));
    return;
  }
  if (optimizer.options.loop == OptimizerLoop::for_loop) return single_tensor_adam(optimizer);
  multi_tensor_adam(optimizer);
}

/// `weight_decay` is what of it is added to the gradients.
Optimizer make(TensorList parameters, OptimizerOptions options, double weight_decay) {
  options.weight_decay = weight_decay;
  if (options.loop == OptimizerLoop::automatic) options.loop = OptimizerLoop::foreach;
  return {.options = options,
          .parameters = std::move(parameters),
          .state = {},
          .step = adam_step,
          .supports_amp_scaling = options.loop == OptimizerLoop::fused};
}

}  // namespace

Optimizer adam(TensorList parameters, const OptimizerOptions& options) {
  return make(std::move(parameters), options, options.weight_decay.value_or(0));
}

Optimizer adamw(TensorList parameters, const OptimizerOptions& options) {
  return make(std::move(parameters), options, 0);
}

}  // namespace tidemark
