#include "train/optimizer.h"

#include <algorithm>

namespace tidemark {

void zero_grad(Optimizer& optimizer, bool set_to_none) {
  if (!set_to_none) return;  // filled with zeros in place
  for (Tensor& parameter : optimizer.parameters) parameter.grad().reset();
}

void step_groups(Optimizer& optimizer) {
  if (optimizer.group_sizes.empty()) {
    optimizer.step(optimizer);
    optimizer.locals.clear();
    return;
  }
  optimizer.stepped_begin = 0;
  for (const std::size_t size : optimizer.group_sizes) {
    optimizer.stepped_end = optimizer.stepped_begin + size;
    optimizer.step(optimizer);
    optimizer.stepped_begin = optimizer.stepped_end;
  }
  optimizer.locals.clear();
  optimizer.stepped_begin = 0;
  optimizer.stepped_end = SIZE_MAX;
}

TensorList moved_gradients(const Optimizer& optimizer, const Chosen& chosen) {
  TensorList list;
  for (const std::size_t i : chosen)
    if (!optimizer.gradient_placements.empty() && optimizer.gradient_placements[i] >= GradientPlacement::whole)
      list.push_back(empty_like(optimizer.parameters[i]));
  return list;
}

void name_state(Optimizer& optimizer) {
  Run& run = optimizer.run();
  for (std::size_t i = 0; i < optimizer.state.size(); ++i)
    for (const Tensor& tensor : optimizer.state[i])
      run.set_module(*tensor.impl().storage, run.module_of(*optimizer.parameters[i].impl().storage));
}

Chosen with_gradient(const Optimizer& optimizer) {
  Chosen chosen;
  const std::size_t end = std::min(optimizer.stepped_end, optimizer.parameters.size());
  for (std::size_t i = optimizer.stepped_begin; i < end; ++i)
    if (optimizer.parameters[i].grad()) chosen.push_back(i);
  return chosen;
}

/// The type met last comes first: they are the buckets of a std::unordered_map, and libstdc++ links a new bucket in
/// front.  torch/csrc: _group_tensors_by_first_tensors_device_and_dtype
std::vector<Chosen> grouped(const Optimizer& optimizer) {
  std::vector<Chosen> groups;
  for (const std::size_t i : with_gradient(optimizer)) {
    const Dtype dtype = optimizer.parameters[i].dtype();
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Chosen& group) {
      return optimizer.parameters[group.front()].dtype() == dtype;
    });
    if (same == groups.end())
      groups.insert(groups.begin(), {i});
    else
      same->push_back(i);
  }
  return groups;
}

TensorList parameters_of(const Optimizer& optimizer, const Chosen& chosen) {
  TensorList list;
  for (const std::size_t i : chosen) list.push_back(optimizer.parameters[i]);
  return list;
}

TensorList gradients_of(const Optimizer& optimizer, const Chosen& chosen) {
  TensorList list;
  for (const std::size_t i : chosen) list.push_back(optimizer.parameters[i].grad());
  return list;
}

TensorList states_of(const Optimizer& optimizer, const Chosen& chosen, std::size_t which) {
  TensorList list;
  for (const std::size_t i : chosen) list.push_back(optimizer.state[i][which]);
  return list;
}

void maximize_and_decay(const OptimizerOptions& options, TensorList& device_grads) {
  if (options.maximize) device_grads = foreach ("aten::_foreach_neg", device_grads);
  if (*options.weight_decay != 0 && !options.maximize) device_grads = foreach ("aten::_foreach_add", device_grads);
}

Tensor reduced(const char* name, const Tensor& tensor, int d, bool keep_dims) {
  const Op op(tensor, name);
  Dims reduced = tensor.sizes();
  for (int i = 0; i < reduced.count(); ++i) reduced[i] = 0;
  reduced[d] = 1;
  return plain_sum(tensor, reduced, keep_dims, tensor.dtype());
}

Tensor fresh(const char* name, const Tensor& like) {
  const Op op(like, name);
  return empty_like(like);
}

TensorList foreach (const char* name, const TensorList& like) {
  TensorList list;
  for (const Tensor& tensor : like) list.push_back(fresh(name, tensor));
  return list;
}

}  // namespace tidemark
