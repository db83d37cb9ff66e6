#include "host_results.h"

#include <ATen/ops/empty_strided.h>

#include "host_data.h"
#include "host_twin.h"

namespace tidemark {
namespace {

/// Whether all tensors are plain CPU floats, one of them is large and unknown, and, unless they are joined, so is every one that has more than one element.
bool is_made_of_unknown_data(const OpPlan& plan, const Arguments& arguments) {
  bool all = true, any = false;
  for (const c10::IValue& value : arguments)
    for_each_tensor(value, [&](const at::Tensor& tensor) {
      all = all && tensor.is_cpu() && is_plain(tensor) && tensor.is_floating_point() && !tensor.is_neg();
      if (!all || tensor.numel() <= 1) return;
      const bool unknown = (!any || !plan.joins) && is_unknown(tensor);
      any |= unknown;
      all = unknown || plan.joins;
    });
  return all && any;
}

at::Tensor without_data(const at::Tensor& tensor) { return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(c10::kMeta)); }

/// What the operation would return, without data.
at::Tensor shape_of_result(const c10::OperatorHandle& op, const Arguments& arguments) {
  const NoHooks below;
  torch::jit::Stack stack;
  for (const c10::IValue& value : arguments) {
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorList()) list.push_back(without_data(tensor));
      stack.emplace_back(std::move(list));
    } else {
      stack.push_back(value.isTensor() && value.toTensor().defined() ? c10::IValue(without_data(value.toTensor())) : value);
    }
  }
  op.callBoxed(&stack);
  return stack.size() == 1 && stack[0].isTensor() ? stack[0].toTensor() : at::Tensor();
}

/// Part by part, by copies that the hook sees.
void join(const OpPlan& plan, const Arguments& arguments, at::Tensor& result) {
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  const std::int64_t dim = arguments[1].toInt() < 0 ? arguments[1].toInt() + result.dim() : arguments[1].toInt();
  std::int64_t place = 0;
  for (const at::Tensor& part : arguments[0].toTensorList()) {
    if (plan.name == "aten::stack") result.select(dim, place++).copy_(part);
    else if (part.dim() == result.dim()) result.narrow(dim, place, part.size(dim)).copy_(part), place += part.size(dim);   // not the empty ones that cat passes over
  }
}

}  // namespace

bool make_unknown_result(const c10::OperatorHandle& op, const OpPlan& plan, torch::jit::Stack* stack) {
  const std::size_t count = op.schema().arguments().size();
  const c10::IValue& first = torch::jit::peek(*stack, 0, count);
  if (first.isTensor() && !(first.toTensor().defined() && first.toTensor().is_cpu())) return false;
  const Arguments arguments(stack->end() - static_cast<std::ptrdiff_t>(count), stack->end());
  if (!is_made_of_unknown_data(plan, arguments) || (plan.joins && !arguments[1].isInt())) return false;
  const at::Tensor shape = shape_of_result(op, arguments);
  if (!shape.defined() || !shape.is_floating_point() || shape.nbytes() < kLargeHostBytes) return false;
  at::Tensor result = at::empty_strided(shape.sizes(), shape.strides(), shape.options().device(c10::kCPU));
  if (plan.joins) join(plan, arguments, result);
  torch::jit::drop(*stack, count);
  stack->push_back(std::move(result));
  return true;
}

}  // namespace tidemark
