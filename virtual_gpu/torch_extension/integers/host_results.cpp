#include "host_results.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/zeros_like.h>

#include "../stand_in.h"
#include "host_copies.h"
#include "host_data.h"
#include "host_twin.h"

namespace tidemark {
namespace {

/// Whether all tensors are plain CPU floats, one of them is large and unknown, and, unless they are joined, so is every
/// one that has more than one element.
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

/// As cat and stack make it (aten/src/ATen/native/TensorShape.cpp, `TORCH_PRECOMPUTE_META_FUNC(cat)`, `stack`);
/// undefined where types differ.
at::Tensor room_for_joined(const OpPlan& plan, const c10::List<at::Tensor>& parts, std::int64_t dim) {
  const at::Tensor first = parts.get(0);
  std::vector<std::int64_t> sizes = first.sizes().vec();
  at::MemoryFormat format = first.suggest_memory_format();
  std::int64_t along = 0;
  for (const at::Tensor& part : parts) {
    if (part.dim() != first.dim() || part.dim() == 0 || part.scalar_type() != first.scalar_type()) return {};
    if (part.suggest_memory_format() != format) format = at::MemoryFormat::Contiguous;
    along += plan.name == "aten::stack" ? 1 : part.size(dim);
  }
  if (plan.name == "aten::cat")
    return sizes[static_cast<std::size_t>(dim)] = along, at::empty(sizes, first.options(), format);
  sizes.insert(sizes.begin() + dim, along);
  return at::empty(sizes, first.options());
}

/// As TensorIterator makes it (aten/src/ATen/TensorIterator.cpp, `compute_types`, `compute_strides`) of tensors of one
/// type whose elements lie alike; undefined for others.
at::Tensor room_for_computed(const Arguments& arguments) {
  at::Tensor like;
  for (const c10::IValue& value : arguments) {
    if (value.isScalar() && value.toScalar().isComplex()) return {};
    if (!value.isTensor() || !value.toTensor().defined() || value.toTensor().dim() == 0) continue;
    const at::Tensor& tensor = value.toTensor();
    if (!like.defined()) like = tensor;
    if (!tensor.is_non_overlapping_and_dense() || tensor.scalar_type() != like.scalar_type() ||
        tensor.sizes() != like.sizes() || tensor.strides() != like.strides())
      return {};
  }
  return like.defined() && like.nbytes() >= kLargeHostBytes
             ? at::empty_strided(like.sizes(), like.strides(), like.options())
             : at::Tensor();
}

/// Part by part, by copies that the hook sees.  False: sizes or types do not fit, or are to be changed first.
bool join(const OpPlan& plan, const Arguments& arguments, at::Tensor& result) {
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  const auto parts = arguments[0].toTensorList();
  const std::int64_t dimensions = parts.get(0).dim() + (plan.name == "aten::stack" ? 1 : 0),
                     dim = arguments[1].toInt() < 0 ? arguments[1].toInt() + dimensions : arguments[1].toInt();
  if (dim < 0 || dim >= dimensions || !(result = room_for_joined(plan, parts, dim)).defined() ||
      result.nbytes() < kLargeHostBytes)
    return false;
  std::int64_t place = 0;
  for (const at::Tensor& part : parts) {
    const at::Tensor to =
        plan.name == "aten::stack" ? result.select(dim, place) : result.narrow(dim, place, part.size(dim));
    if (to.sizes() != part.sizes()) return false;
    to.copy_(part);
    place += plan.name == "aten::stack" ? 1 : part.size(dim);
  }
  return true;
}

/// Two large ones of one shape that hold nothing but zeros: masks of comparisons that nobody had to make.
bool combine_zeros(const Arguments& arguments, at::Tensor& result) {
  for (const c10::IValue& value : arguments)
    if (!value.isTensor() || !is_in_host_pages(value.toTensor()) || value.toTensor().nbytes() < kLargeHostBytes ||
        !value.toTensor().is_non_overlapping_and_dense() ||
        value.toTensor().sizes() != arguments[0].toTensor().sizes() ||
        value.toTensor().strides() != arguments[0].toTensor().strides() ||
        value.toTensor().scalar_type() != arguments[0].toTensor().scalar_type() || !is_clear(value.toTensor()))
      return false;
  result = at::zeros_like(arguments[0].toTensor());
  return true;
}

}  // namespace

bool make_unknown_result(const c10::OperatorHandle& op, const OpPlan& plan, torch::jit::Stack* stack) {
  const std::size_t count = op.schema().arguments().size();
  const c10::IValue& first = torch::jit::peek(*stack, 0, count);
  if (first.isTensor() && !(first.toTensor().defined() && first.toTensor().is_cpu())) return false;
  const Arguments arguments(stack->end() - static_cast<std::ptrdiff_t>(count), stack->end());
  at::Tensor result;
  if (plan.keeps_zeros) {
    if (!combine_zeros(arguments, result)) return false;
  } else if (!is_made_of_unknown_data(plan, arguments)) {
    return false;
  } else if (plan.joins ? !join(plan, arguments, result) : !(result = room_for_computed(arguments)).defined()) {
    return false;
  }
  torch::jit::drop(*stack, count);
  stack->push_back(std::move(result));
  return true;
}

}  // namespace tidemark
