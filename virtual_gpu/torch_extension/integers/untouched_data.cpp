#include "untouched_data.h"

#include <ATen/ops/zeros.h>

#include <unistd.h>

#include <algorithm>

#include "../stand_in.h"
#include "host_copies.h"

namespace tidemark {
namespace {

constexpr std::int64_t kLargeElements = std::int64_t{1} << 20;  // below, computing takes less than asking is worth

bool is_zero(const std::byte* begin, const std::byte* end) {
  return std::all_of(begin, end, [](std::byte byte) { return byte == std::byte{0}; });
}

bool is_large(const Arguments& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const c10::IValue& value) {
    return value.isTensor() && value.toTensor().defined() && value.toTensor().numel() >= kLargeElements;
  });
}

/// The arguments with one zero for every untouched tensor, of as many dimensions, which keeps how types are promoted
/// and dimensions counted. Empty: one of them is known only element by element.
Arguments one_element_each(const Arguments& arguments) {
  Arguments small;
  for (const c10::IValue& value : arguments) {
    if (value.isTensorList() || value.isOptionalTensorList()) return {};
    const bool many = value.isTensor() && value.toTensor().defined() && value.toTensor().numel() != 1;
    if (many && !is_untouched(value.toTensor())) return {};
    if (many)
      small.emplace_back(at::zeros(std::vector<std::int64_t>(static_cast<std::size_t>(value.toTensor().dim()), 1),
                                   value.toTensor().options().device(c10::kCPU)));
    else
      small.push_back(value);
  }
  return small;
}

}  // namespace

bool is_untouched(const at::Tensor& tensor) {
  if (!is_cuda_integer(tensor) || tensor.numel() == 0) return false;
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto* begin = static_cast<const std::byte*>(tensor.const_data_ptr());
  const std::size_t from = reinterpret_cast<std::uintptr_t>(begin), to = from + reach_bytes(tensor);
  const std::size_t first = (from + page - 1) / page, last = to / page;  // the whole pages of it
  if (first >= last) return is_zero(begin, begin + (to - from));
  return tidemark_none_is_given(begin, to - from) && is_zero(begin, begin + (first * page - from)) &&
         is_zero(begin + (last * page - from), begin + (to - from));
}

bool compute_from_one_element(const c10::OperatorHandle& op, const OpPlan& plan, const Arguments& arguments,
                              const std::vector<at::Tensor>& outputs) {
  if (!plan.even || outputs.size() != 1 || !outputs[0].is_cuda() || !is_large(arguments)) return false;
  const NoHooks below;
  const Arguments small = one_element_each(arguments);
  if (small.empty()) return false;
  try {
    const auto results = run_on_host(op, plan, small);
    if (results.size() != 1 || !results[0].isTensor() || results[0].toTensor().numel() != 1) return false;
    const at::Tensor result = results[0].toTensor().reshape({});
    if (!result.is_nonzero())
      clear(outputs[0]);
    else if (outputs[0].nbytes() <= kComputedAtMostBytes)
      host_alias(outputs[0]).copy_(result);
    else
      return false;
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

}  // namespace tidemark
