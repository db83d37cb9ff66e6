// torch/optim/_adafactor.py (2.11.0).  Matrices keep a row and a column of variances, vectors a whole one.  Its default
// is the loop over single tensors.
#include "base/error.h"
#include "train/optimizer.h"

namespace tidemark {
namespace {

constexpr std::size_t kRow = 0, kColumn = 1, kVariance = 0;

Tensor norm(const Tensor& tensor, int d) { return reduced("aten::linalg_vector_norm", tensor, d, true); }

/// tensor.norm(2).item()
void norm_item(const Tensor& tensor) {
  const Op op(tensor, "aten::linalg_vector_norm");
  plain_sum(tensor, every_dimension(tensor), false, tensor.dtype());
}

void init_adafactor_group(Optimizer& optimizer) {
  init_state(optimizer, [](const Tensor& parameter, ParameterState& state) {
    const Tensor& grad = parameter.grad();
    if (grad.dims() < 2) return state.push_back(fresh("aten::zeros_like", grad));
    const Op op(grad, "aten::new_zeros");
    for (const int d : {-1, -2}) {
      Dims sizes = grad.sizes();
      sizes[d] = 1;
      state.push_back(empty(grad.run(), sizes, grad.dtype()));
    }
  });
}

void single_tensor_adafactor(Optimizer& optimizer) {
  Tensor grad, row_mean, col_mean, grad_squared, var_estimate, update;
  for (const std::size_t i : with_gradient(optimizer)) {
    const Tensor& parameter = optimizer.parameters[i];
    const ParameterState& state = optimizer.state[i];
    grad = optimizer.options.maximize ? fresh("aten::neg", parameter.grad()) : parameter.grad();
    norm_item(parameter);
    if (grad.dims() > 1) {
      row_mean = norm(grad, -1);
      col_mean = norm(grad, -2);
      var_estimate = matmul(state[kRow], state[kColumn]);
      const Tensor row_var_mean = reduced("aten::mean", state[kRow], -2, true);
    } else {
      grad_squared = fresh("aten::mul", grad);
      var_estimate = fresh("aten::clone", state[kVariance]);
    }
    update = var_estimate;
    norm_item(update);
  }
}

template <class Make>
TensorList each(const TensorList& list, Make&& make) {
  TensorList made;
  for (const Tensor& tensor : list) made.push_back(make(tensor));
  return made;
}

/// `row_var @ col_var` divided by the mean of `row_var`, over the lists.
TensorList factored_variances(const TensorList& device_grads, const TensorList& row_vars, const TensorList& col_vars) {
  for (const int d : {-1, -2}) each(device_grads, [&](const Tensor& grad) { return norm(grad, d); });
  TensorList var_estimates;
  for (std::size_t i = 0; i < row_vars.size(); ++i) var_estimates.push_back(matmul(row_vars[i], col_vars[i]));
  each(row_vars, [](const Tensor& row_var) { return reduced("aten::mean", row_var, -2, true); });
  return var_estimates;
}

/// Each type's matrices and vectors by themselves, the kind met first going first.
/// torch: _group_tensors_by_device_dtype_and_is_multidim
std::vector<Chosen> grouped_by_dimensions(const Optimizer& optimizer) {
  std::vector<Chosen> groups;
  for (const Chosen& same_type : grouped(optimizer)) {
    const auto is_matrix = [&](std::size_t i) { return optimizer.parameters[i].grad().dims() > 1; };
    Chosen first, second;
    for (const std::size_t i : same_type) (is_matrix(i) == is_matrix(same_type.front()) ? first : second).push_back(i);
    groups.push_back(std::move(first));
    if (!second.empty()) groups.push_back(std::move(second));
  }
  return groups;
}

void multi_tensor_adafactor(Optimizer& optimizer) {
  TensorList device_grads, var_estimates, updates;
  for (const Chosen& group : grouped_by_dimensions(optimizer)) {
    device_grads = gradients_of(optimizer, group);
    if (optimizer.options.maximize) device_grads = foreach ("aten::_foreach_neg", device_grads);
    for (const std::size_t i : group) norm_item(optimizer.parameters[i]);
    if (device_grads.front().dims() > 1) {
      var_estimates =
          factored_variances(device_grads, states_of(optimizer, group, kRow), states_of(optimizer, group, kColumn));
    } else {
      foreach ("aten::_foreach_mul", device_grads);
      var_estimates = foreach ("aten::clone", states_of(optimizer, group, kVariance));
    }
    updates = var_estimates;
    for (const Tensor& update : updates) norm_item(update);
  }
}

void adafactor_step(Optimizer& optimizer) {
  init_adafactor_group(optimizer);
  if (optimizer.options.loop == OptimizerLoop::foreach) return multi_tensor_adafactor(optimizer);
  single_tensor_adafactor(optimizer);
}

}  // namespace

Optimizer adafactor(TensorList parameters, const OptimizerOptions& options) {
  if (options.loop == OptimizerLoop::fused) throw Error(Errc::unsupported, "torch.optim.Adafactor has no fused kernel");
  return {.options = options, .parameters = std::move(parameters), .state = {}, .step = adafactor_step};
}

}  // namespace tidemark
