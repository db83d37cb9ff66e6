// The same operation on the host: CPU tensors that alias the virtual device's memory.
#pragma once
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "op_plan.h"

namespace tidemark {

using Arguments = std::vector<c10::IValue>;

/// Calls `visit` for every defined tensor in `value`: a tensor, an optional, a list of either.
void for_each_tensor(const c10::IValue& value, const std::function<void(const at::Tensor&)>& visit);
bool is_cuda_integer(const at::Tensor& tensor);
/// A CPU tensor over the very bytes of a CUDA tensor (others come back as they are).
at::Tensor host_alias(const at::Tensor& tensor);

/// Runs `op` on host aliases of `arguments` and returns what it returned.  Written arguments are written in place.  Throws what the
/// CPU kernel throws.
std::vector<c10::IValue> run_on_host(const c10::OperatorHandle& op, const OpPlan& plan, const Arguments& arguments);
/// Copies host results into the integer tensors among `results` (position by position, lists too).
void store(const c10::IValue& result, const c10::IValue& host_result);

}  // namespace tidemark
