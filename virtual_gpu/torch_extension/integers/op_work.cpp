#include "op_work.h"

#include "../stand_in.h"

namespace tidemark {
namespace {

/// Of the tensors on the virtual device.
double bytes_of(const c10::IValue& value) {
  double bytes = 0;
  for_each_tensor(value, [&](const at::Tensor& tensor) {
    if (tensor.is_cuda() && is_plain(tensor)) bytes += static_cast<double>(tensor.nbytes());
  });
  return bytes;
}

const at::Tensor* tensor_at(const Arguments& arguments, std::size_t position) {
  if (position >= arguments.size() || !arguments[position].isTensor()) return nullptr;
  const at::Tensor& tensor = arguments[position].toTensor();
  return tensor.defined() && tensor.is_cuda() && is_plain(tensor) ? &tensor : nullptr;
}

double elements(const at::Tensor& tensor) { return static_cast<double>(tensor.numel()); }

/// Two products of queries x keys; backward has five (FlashAttention-2, section 4.1: 2.5 times the forward's).  A
/// causal mask is not looked at.
double attention_flops(const OpPlan& plan, const Arguments& arguments) {
  const bool backward = plan.name.find("backward") != std::string::npos;
  const at::Tensor* query = tensor_at(arguments, backward ? 1 : 0);
  const at::Tensor* key = tensor_at(arguments, backward ? 2 : 1);
  if (!query || !key || query->dim() != 4 || key->dim() != 4) return 0;
  const bool heads_first = plan.name.find("_scaled_dot_product") !=
                           std::string::npos;  // (B, H, S, D); the kernels below it have (B, S, H, D)
  return 4 * elements(*query) * static_cast<double>(key->size(heads_first ? 2 : 1)) * (backward ? 2.5 : 1);
}

/// Every output element is a product of as many terms as a filter has; backward makes two such products.
double convolution_flops(const OpPlan& plan, const Arguments& arguments, const torch::jit::Stack& stack,
                         std::size_t first_result) {
  const bool backward = plan.name.find("backward") != std::string::npos;
  const at::Tensor* weight = tensor_at(arguments, backward ? 2 : 1);
  if (!weight || weight->dim() == 0 || weight->size(0) == 0) return 0;
  const at::Tensor* output = backward ? tensor_at(arguments, 0) : nullptr;
  if (!backward && first_result < stack.size() && stack[first_result].isTensor())
    output = &stack[first_result].toTensor();
  if (!output || !output->defined()) return 0;
  return 2 * elements(*output) * elements(*weight) / static_cast<double>(weight->size(0)) * (backward ? 2 : 1);
}

/// Products of matrices are not here: cuBLAS is told their sizes (virtual_gpu/cublas.cpp).
double flops_of(const OpPlan& plan, const Arguments& arguments, const torch::jit::Stack& stack,
                std::size_t first_result) {
  if (plan.name.find("attention") != std::string::npos) return attention_flops(plan, arguments);
  if (plan.name.find("convolution") != std::string::npos)
    return convolution_flops(plan, arguments, stack, first_result);
  return 0;
}

/// `Precision` of virtual_gpu/device_clock.h.
int precision_of(const Arguments& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (const at::Tensor* tensor = tensor_at(arguments, i)) {
      switch (tensor->scalar_type()) {
        case at::kHalf: return 1;
        case at::kBFloat16: return 2;
        case at::kDouble: return 3;
        default: return 0;
      }
    }
  return 0;
}

}  // namespace

OpWork::OpWork() { tidemark_operation_begins(before_); }

void OpWork::tell(const OpPlan& plan, const Arguments& arguments, const torch::jit::Stack& stack,
                  std::size_t first_result) const {
  double bytes = 0;
  for (const c10::IValue& argument : arguments) bytes += bytes_of(argument);
  for (const std::size_t position : plan.written) bytes += bytes_of(arguments[position]);
  if (plan.returns_fresh)
    for (std::size_t i = first_result; i < stack.size(); ++i) bytes += bytes_of(stack[i]);
  tidemark_operation_ends(before_, bytes, flops_of(plan, arguments, stack, first_result), precision_of(arguments));
}

}  // namespace tidemark
