// transformers/optimization.py, Adafactor (5.24.0), as the Trainer makes it: without a first moment, a scaled or a
// relative step.
#include "base/error.h"
#include "train/optimizer.h"

namespace tidemark {
namespace {

constexpr std::size_t kRms = 0, kRowVariance = 1, kColumnVariance = 2, kWholeVariance = 1;

/// Adafactor._rms: tensor.norm(2) / (tensor.numel() ** 0.5)
Tensor root_mean_square(const Tensor& tensor) {
  Tensor norm;
  {
    const Op op(tensor, "aten::linalg_vector_norm");
    norm = plain_sum(tensor, every_dimension(tensor), false, tensor.dtype());
  }
  return fresh("aten::div", norm);
}

/// Tensor.float()
Tensor in_float32(const Tensor& tensor) {
  if (tensor.dtype() == Dtype::f32) return tensor;
  const Op op(tensor, "aten::to");
  return empty(tensor.run(), tensor.sizes(), Dtype::f32);
}

void init_transformers_state(const Tensor& grad, ParameterState& state) {
  const Once once(grad.run());
  const Setting<Category> category(grad.run().category, Category::optimizer_state);
  state.push_back(empty(grad.run(), Dims{0}, Dtype::f32));  // RMS: the number 0
  if (grad.dims() < 2) return state.push_back(fresh("aten::zeros_like", grad));
  for (const int d : {-1, -2}) {
    Dims sizes = grad.sizes();
    sizes.erase(sizes.at(d));
    state.push_back(to_device(grad.run(), sizes, grad.dtype()));
  }
}

/// Adafactor._approx_sq_grad
Tensor approximate_squares(const Tensor& row, const Tensor& column) {
  Tensor row_mean = reduced("aten::mean", row, -1, true);
  const Tensor row_factor = fresh("aten::div", row);
  row_mean.reset();
  const Tensor column_factor = fresh("aten::rsqrt", column);
  return mul(unsqueeze(row_factor, -1), unsqueeze(column_factor, -2));
}

Tensor squared_and_added(const Tensor& grad) {
  const Tensor square = fresh("aten::pow", grad);
  return fresh("aten::add", square);
}

/// update.div_((self._rms(update) / clip_threshold).clamp_(min=1.0))
void clip_update(const Tensor& update) {
  Tensor mean_square = root_mean_square(update);
  mean_square = fresh("aten::div", mean_square);
}

void transformers_adafactor_step(Optimizer& optimizer) {
  optimizer.locals.resize(3);
  Tensor &grad = optimizer.locals[0], &p_data_fp32 = optimizer.locals[1], &update = optimizer.locals[2];
  optimizer.state.resize(optimizer.parameters.size());
  for (const std::size_t i : with_gradient(optimizer)) {
    const Tensor& parameter = optimizer.parameters[i];
    ParameterState& state = optimizer.state[i];
    grad = parameter.grad();
    grad = in_float32(grad);
    if (state.empty()) init_transformers_state(grad, state);
    p_data_fp32 = parameter;
    p_data_fp32 = in_float32(parameter);
    {
      const Setting<Category> category(optimizer.run().category, Category::optimizer_state);
      state[kRms] = root_mean_square(p_data_fp32);
    }
    update = squared_and_added(grad);
    if (grad.dims() > 1) {
      for (const int d : {-1, -2}) reduced("aten::mean", update, d, false);
      update = approximate_squares(state[kRowVariance], state[kColumnVariance]);
    } else {
      update = fresh("aten::rsqrt", state[kWholeVariance]);
    }
    clip_update(update);
    fresh("aten::neg", update);
  }
}

}  // namespace

Optimizer transformers_adafactor(TensorList parameters, const OptimizerOptions& options) {
  if (options.loop != OptimizerLoop::automatic)
    throw Error(Errc::unsupported, "transformers.Adafactor has one implementation", "optimizer_impl");
  return {.options = options, .parameters = std::move(parameters), .state = {}, .step = transformers_adafactor_step};
}

}  // namespace tidemark
