#include "host_twin.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace tidemark {
namespace {

/// Random integers come from a generator of our own: the user's must advance as on a real run.
at::Generator& host_generator() {
  static thread_local at::Generator generator = at::detail::createCPUGenerator(0x7469);
  return generator;
}

c10::IValue aliased(const c10::IValue& value) {
  if (value.isTensor()) return value.toTensor().defined() ? c10::IValue(host_alias(value.toTensor())) : value;
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorList()) list.push_back(host_alias(tensor));
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorList())
      list.push_back(tensor && tensor->defined() ? std::optional<at::Tensor>(host_alias(*tensor)) : tensor);
    return list;
  }
  if (value.isDevice() && value.toDevice().is_cuda()) return c10::Device(c10::kCPU);
  if (value.isGenerator()) return host_generator();
  return value;
}

}  // namespace

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

bool is_cuda_integer(const at::Tensor& tensor) { return tensor.is_cuda() && c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true); }

at::Tensor host_alias(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.is_cuda()) return tensor;
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(), tensor.options().device(c10::kCPU));
}

std::vector<c10::IValue> run_on_host(const c10::OperatorHandle& op, const OpPlan& plan, const Arguments& arguments) {
  const c10::impl::ExcludeDispatchKeyGuard no_hooks(c10::DispatchKeySet(
      {c10::DispatchKey::Fake, c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot, c10::DispatchKey::PythonDispatcher}));
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  torch::jit::Stack stack;
  const auto& schema_arguments = op.schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = schema_arguments[i].name();
    if (name == "generator") stack.emplace_back(host_generator());
    else if (name == "pin_memory") stack.emplace_back();
    else if (name == "device" && plan.written.empty() && arguments[i].isNone()) stack.emplace_back();
    else stack.push_back(aliased(arguments[i]));
  }
  op.callBoxed(&stack);
  return stack;
}

void store(const c10::IValue& result, const c10::IValue& host_result) {
  std::vector<at::Tensor> targets, sources;
  for_each_tensor(result, [&](const at::Tensor& t) { targets.push_back(t); });
  for_each_tensor(host_result, [&](const at::Tensor& t) { sources.push_back(t); });
  if (targets.size() != sources.size()) return;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!c10::isIntegralType(targets[i].scalar_type(), true) || targets[i].sizes() != sources[i].sizes()) continue;
    at::Tensor target = host_alias(targets[i]);
    if (target.data_ptr() != sources[i].data_ptr()) target.copy_(sources[i]);
  }
}

}  // namespace tidemark
