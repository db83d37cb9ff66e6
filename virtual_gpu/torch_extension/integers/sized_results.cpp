#include "sized_results.h"

#include <ATen/ops/count_nonzero.h>
#include <ATen/ops/unique_dim.h>

#include <optional>

#include "../assumptions/assumptions.h"
#include "../stand_in.h"
#include "untouched_data.h"

namespace tidemark {
namespace {

/// unique_dim(self, dim, …), unique_dim_consecutive(self, dim, …), unique_consecutive(self, inverse, counts, dim?): the
/// dimension, if there is one.
std::optional<std::int64_t> dimension(const std::string& name, const Arguments& arguments) {
  if (name == "aten::unique_dim" || name == "aten::unique_dim_consecutive") return arguments[1].toInt();
  if (name == "aten::unique_consecutive" && !arguments[3].isNone()) return arguments[3].toInt();
  return std::nullopt;
}

std::int64_t count_true(const at::Tensor& tensor) {
  if (is_untouched(tensor)) return 0;
  const NoHooks below;
  return at::count_nonzero(host_alias(tensor)).item<std::int64_t>();
}

std::int64_t count_along(std::optional<std::int64_t> dim, const at::Tensor& tensor) {
  if (!dim) return tensor.numel();
  return tensor.dim() == 0 ? 1 : tensor.size(*dim < 0 ? *dim + tensor.dim() : *dim);
}

/// Distinct places of a sparse tensor, in the order that coalesced ones have.
at::Tensor places(const at::Tensor& sparse) {
  const NoHooks below;
  return std::get<0>(at::unique_dim(host_alias(sparse._indices()), 1));
}

/// The number that the device would have counted; none if the operation reads no such number or its arguments are
/// wrong.
std::optional<std::int64_t> true_count(const c10::OperatorHandle& op, const OpPlan& plan, const Arguments& arguments,
                                       const Census& census) {
  const at::Tensor& self = arguments[0].toTensor();
  if (plan.name == "aten::nonzero") {
    if (!census.cuda_floats) return count_true(self);
    assume("nonzero of float data: none");
    return 0;
  }
  if (plan.name == "aten::_coalesce") return places(self).size(1);
  if (census.cuda_floats) {
    assume("unique of float data: every element");
    return count_along(dimension(plan.name, arguments), self);
  }
  // Of booleans the device counts the true ones (UniqueCub.cu).
  if (plan.name == "aten::_unique2" && self.scalar_type() == c10::kBool) return count_true(self);
  return count_along(dimension(plan.name, arguments), run_on_host(op, plan, arguments).at(0).toTensor());
}

/// Where a boolean mask selects: its true elements.  Elsewhere `nonzero` is seen by itself when these operations call
/// it.
std::optional<std::int64_t> count_in_mask(const OpPlan& plan, const Arguments& arguments) {
  if (plan.name != "aten::index" && plan.name != "aten::index_put_" && plan.name != "aten::_index_put_impl_" &&
      plan.name != "aten::masked_select")
    return std::nullopt;
  std::optional<std::int64_t> count;
  for_each_tensor(arguments[1], [&](const at::Tensor& mask) {
    if (mask.scalar_type() == c10::kBool && is_plain(mask)) count = count_true(mask);
  });
  return count;
}

}  // namespace

PromisedCount::PromisedCount(const c10::OperatorHandle& op, const OpPlan& plan, const Arguments& arguments,
                             const Census& census, bool under_python) {
  if (!census.cuda_inputs) return;
  try {
    const auto count = plan.sized_by_data ? true_count(op, plan, arguments, census)
                       : under_python     ? count_in_mask(plan, arguments)
                                          : std::nullopt;
    if (count) {
      tidemark_promise_count(*count);
      made_ = true;
    }
  } catch (const std::exception&) {
    // Wrong arguments: the operation itself says so, in its own words.
  }
}

void store_places(const OpPlan& plan, const Arguments& arguments, const torch::jit::Stack& results) {
  if (plan.name != "aten::_coalesce" || !arguments[0].toTensor().is_cuda()) return;
  const NoHooks below;
  store(results.back().toTensor()._indices(), places(arguments[0].toTensor()));
}

PromisedCount::~PromisedCount() {
  if (made_) tidemark_withdraw_promise();
}

}  // namespace tidemark
