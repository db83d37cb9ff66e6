#include "host_data.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <optional>

#include "../assumptions/assumptions.h"
#include "../stand_in.h"
#include "host_copies.h"
#include "host_results.h"
#include "host_twin.h"

namespace tidemark {
namespace {

bool draws_at_random(const std::string& name) {
  return one_of(name, {"aten::normal_", "aten::uniform_", "aten::exponential_", "aten::cauchy_", "aten::log_normal_"});
}

bool decides_by_values(const std::string& name) {
  return one_of(name, {"aten::lt", "aten::le", "aten::gt", "aten::ge", "aten::sort", "aten::argsort", "aten::topk",
                       "aten::bernoulli", "aten::multinomial"});
}

bool works_in_place_elementwise(const std::string& name) {
  return one_of(name, {"aten::mul_",     "aten::add_",        "aten::sub_",       "aten::div_", "aten::erfinv_",
                       "aten::clamp_",   "aten::clamp_min_",  "aten::clamp_max_", "aten::neg_", "aten::exp_",
                       "aten::log_",     "aten::sqrt_",       "aten::pow_",       "aten::abs_", "aten::tanh_",
                       "aten::sigmoid_", "aten::reciprocal_", "aten::rsqrt_",     "aten::sin_", "aten::cos_",
                       "aten::lerp_"});
}

bool writes_zero(const OpPlan& plan, const c10::IValue* second) {
  if (plan.name == "aten::zero_") return true;
  return plan.name == "aten::fill_" && second && second->isScalar() && !second->toScalar().isComplex() &&
         second->toScalar().toDouble() == 0.0 && !std::signbit(second->toScalar().toDouble());
}

/// `torch.rand(shape) < p` makes a mask, so what was drawn counts after all: it is drawn now.
void draw_after_all(const at::Tensor& tensor) {
  if (!is_unknown(tensor)) return;
  mark_known(tensor);
  const NoHooks below;
  const auto elements = static_cast<std::int64_t>(reach_bytes(tensor) / tensor.element_size());
  at::from_blob(tensor.mutable_data_ptr(), {elements}, tensor.options()).uniform_(0.0, 1.0, host_generator());
}

/// What is drawn after all lies between 0 and 1: a comparison with a number that does not need not be made
/// (trunc_normal_ rejects what lies too far out).
std::optional<bool> known_beforehand(const OpPlan& plan, const c10::IValue& other) {
  if (!other.isScalar() || other.toScalar().isComplex()) return std::nullopt;
  const double bound = other.toScalar().toDouble();
  if (bound > 0.0 && bound < 1.0) return std::nullopt;
  if (one_of(plan.name, {"aten::lt", "aten::le"})) return bound >= 1.0;
  if (one_of(plan.name, {"aten::gt", "aten::ge"})) return bound <= 0.0;
  return std::nullopt;
}

bool compare_nothing(const OpPlan& plan, std::size_t count, torch::jit::Stack* stack) {
  if (count != 2 || !torch::jit::peek(*stack, 0, 2).isTensor()) return false;
  const auto answer = known_beforehand(plan, torch::jit::peek(*stack, 1, 2));
  if (!answer || !is_unknown(torch::jit::peek(*stack, 0, 2).toTensor())) return false;
  const at::Tensor self = torch::jit::peek(*stack, 0, 2).toTensor();
  at::Tensor result = at::zeros_like(self, self.options().dtype(c10::kBool));
  if (*answer) result.fill_(true);
  torch::jit::drop(*stack, 2);
  stack->push_back(std::move(result));
  return true;
}

/// Whether what `op` would write into `self` needs no writing.
bool is_written_without_work(const OpPlan& plan, const at::Tensor& self, const c10::IValue* second) {
  if (plan.name == "aten::copy_") return second && second->isTensor() && copy_written_pages(self, second->toTensor());
  if (!is_in_host_pages(self) || self.nbytes() < kLargeHostBytes || !self.is_non_overlapping_and_dense()) return false;
  if (writes_zero(plan, second)) {
    mark_known(self);
    tidemark_fill(self.mutable_data_ptr(), 0, self.nbytes());
    return true;
  }
  if (!self.is_floating_point()) return false;
  if (!draws_at_random(plan.name)) return works_in_place_elementwise(plan.name) && is_unknown(self);
  assume_everywhere("random initialisation on the host: skipped (float data is not computed)");
  tidemark_fill(self.mutable_data_ptr(), 0, self.nbytes());  // what was there takes no memory any more
  mark_unknown(self);
  return true;
}

}  // namespace

bool is_in_host_pages(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_cpu() && is_plain(tensor) && tensor.storage().nbytes() >= kLargeHostBytes &&
         tidemark_owns_host_pages(tensor.storage().data(), tensor.storage().nbytes());
}

bool is_unknown(const at::Tensor& tensor) {
  return is_in_host_pages(tensor) && tensor.numel() > 0 && tensor.is_floating_point() &&
         tidemark_is_unknown(tensor.const_data_ptr(), reach_bytes(tensor));
}

void mark_unknown(const at::Tensor& tensor) {
  if (tensor.numel() > 0) tidemark_mark_unknown(tensor.const_data_ptr(), reach_bytes(tensor));
}

void mark_known(const at::Tensor& tensor) {
  if (tensor.numel() > 0) tidemark_mark_known(tensor.const_data_ptr(), reach_bytes(tensor));
}

bool skip_host_data(const c10::OperatorHandle& op, const OpPlan& plan, torch::jit::Stack* stack) {
  const std::size_t count = op.schema().arguments().size();
  if (count == 0) return false;
  if (decides_by_values(plan.name)) {
    if (plan.written.empty() && compare_nothing(plan, count, stack)) return true;
    for (std::size_t i = 0; i < count; ++i)
      if (const c10::IValue& value = torch::jit::peek(*stack, i, count); value.isTensor())
        draw_after_all(value.toTensor());
  }
  if (plan.written.empty())
    return (plan.pointwise || plan.joins || plan.keeps_zeros) && make_unknown_result(op, plan, stack);
  const c10::IValue& first = torch::jit::peek(*stack, 0, count);
  if (!first.isTensor() || !first.toTensor().defined() || !first.toTensor().is_cpu()) return false;
  const at::Tensor self = first.toTensor();
  if (!is_written_without_work(plan, self, count > 1 ? &torch::jit::peek(*stack, 1, count) : nullptr)) return false;
  torch::jit::drop(*stack, count);
  stack->push_back(self);
  return true;
}

void note_host_data(const OpPlan& plan, const std::vector<c10::IValue>& arguments, const torch::jit::Stack& results,
                    std::size_t first_result) {
  if (plan.uninitialised) {  // not resize_, set_ and the like: those keep data
    if (plan.name.rfind("aten::empty", 0) != 0 && plan.name.rfind("aten::new_empty", 0) != 0) return;
    for (std::size_t i = first_result; i < results.size(); ++i)
      for_each_tensor(results[i], [](const at::Tensor& t) {
        if (is_in_host_pages(t) && t.is_floating_point()) mark_unknown(t);
      });
    return;
  }
  for (const std::size_t position : plan.written)
    if (position < arguments.size())
      for_each_tensor(arguments[position], [](const at::Tensor& t) {
        if (is_in_host_pages(t)) mark_known(t);
      });
}

}  // namespace tidemark
