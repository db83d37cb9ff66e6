#include "host_twin.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/from_blob.h>

#include "../stand_in.h"

namespace tidemark {
namespace {

/// How an argument tensor is seen on the host: over its own bytes, or as a copy in a wider type.
using Wider = std::optional<c10::ScalarType>;

at::Tensor on_host(const at::Tensor& tensor, Wider wider) {
  const at::Tensor alias = host_alias(tensor);
  return wider && alias.defined() && c10::isIntegralType(alias.scalar_type(), true) ? alias.to(*wider) : alias;
}

c10::IValue on_host(const c10::IValue& value, Wider wider) {
  if (value.isTensor()) return value.toTensor().defined() ? c10::IValue(on_host(value.toTensor(), wider)) : value;
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorList()) list.push_back(on_host(tensor, wider));
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorList())
      list.push_back(tensor && tensor->defined() ? std::optional<at::Tensor>(on_host(*tensor, wider)) : tensor);
    return list;
  }
  if (value.isDevice() && value.toDevice().is_cuda()) return c10::Device(c10::kCPU);
  if (value.isGenerator()) return host_generator();
  return value;
}

torch::jit::Stack call_on_host(const c10::OperatorHandle& op, const Arguments& arguments, Wider wider) {
  torch::jit::Stack stack;
  const auto& schema_arguments = op.schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = schema_arguments[i].name();
    if (name == "generator")
      stack.emplace_back(host_generator());
    else if (name == "pin_memory")
      stack.emplace_back();
    else
      stack.push_back(on_host(arguments[i], wider));
  }
  // Results that are references to arguments are copied after these have left the stack
  // (make_boxed_from_unboxed_functor.h, push_outputs of a tuple).
  const torch::jit::Stack kept = stack;
  op.callBoxed(&stack);
  return stack;
}

}  // namespace

at::Generator& host_generator() {
  static thread_local at::Generator generator = at::detail::createCPUGenerator(0x7469);
  return generator;
}

void for_each_tensor(const c10::IValue& value, const std::function<void(const at::Tensor&)>& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorList())
      if (tensor.defined()) visit(tensor);
  } else if (value.isOptionalTensorList()) {
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorList())
      if (tensor && tensor->defined()) visit(*tensor);
  }
}

bool is_plain(const at::Tensor& tensor) {
  return !tensor.unsafeGetTensorImpl()->is_python_dispatch() && tensor.layout() == c10::kStrided &&
         !tensor.is_nested() && !tensor.is_quantized() && tensor.has_storage() && !tensor._is_zerotensor() &&
         !tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides();
}

bool is_cuda_integer(const at::Tensor& tensor) {
  return tensor.is_cuda() && c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true) && is_plain(tensor);
}

at::Tensor host_alias(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_cuda()) return tensor;
  // const_data_ptr: data_ptr would make a lazy copy real, which allocates.
  return at::from_blob(const_cast<void*>(tensor.const_data_ptr()), tensor.sizes(), tensor.strides(),
                       tensor.options().device(c10::kCPU));
}

void clear(const at::Tensor& tensor) {
  if (tensor.is_cuda() && tensor.is_non_overlapping_and_dense())
    tidemark_fill(const_cast<void*>(tensor.const_data_ptr()), 0, tensor.nbytes());
  else
    host_alias(tensor).fill_(0);
}

std::vector<c10::IValue> run_on_host(const c10::OperatorHandle& op, const OpPlan& plan, const Arguments& arguments) {
  const NoHooks below;
  try {
    return call_on_host(op, arguments, std::nullopt);
  } catch (const c10::Error&) {
    if (!plan.written.empty()) throw;
  }
  try {  // unsigned, boolean and 16-bit kernels that only the card has
    return call_on_host(op, arguments, c10::kLong);
  } catch (const c10::Error&) {
    return call_on_host(op, arguments, c10::kDouble);  // histc and others that count in floats on the host
  }
}

void store(const c10::IValue& result, const c10::IValue& host_result) {
  std::vector<at::Tensor> targets, sources;
  for_each_tensor(result, [&](const at::Tensor& t) { targets.push_back(t); });
  for_each_tensor(host_result, [&](const at::Tensor& t) { sources.push_back(t); });
  if (targets.size() != sources.size()) return;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!c10::isIntegralType(targets[i].scalar_type(), true) || !is_plain(targets[i]) ||
        targets[i].sizes() != sources[i].sizes())
      continue;
    at::Tensor target = host_alias(targets[i]);
    if (target.data_ptr() != sources[i].data_ptr()) target.copy_(sources[i]);
  }
}

}  // namespace tidemark
