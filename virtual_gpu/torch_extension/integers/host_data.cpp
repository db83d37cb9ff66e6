#include "host_data.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/from_blob.h>

#include <atomic>
#include <mutex>
#include <unordered_set>

#include "../assumptions/assumptions.h"
#include "host_twin.h"

namespace tidemark {
namespace {

constexpr std::size_t kLargeBytes = std::size_t{1} << 20;

/// Storages of large float host tensors without known values, by address.
class UnknownData {
 public:
  bool holds(const at::Tensor& tensor) {
    if (count_ == 0) return false;
    const std::lock_guard lock(mutex_);
    return starts_.count(tensor.storage().data()) != 0;
  }
  void add(const at::Tensor& tensor) {
    const std::lock_guard lock(mutex_);
    starts_.insert(tensor.storage().data());
    count_ = starts_.size();
  }
  void remove(const at::Tensor& tensor) {
    if (count_ == 0) return;
    const std::lock_guard lock(mutex_);
    starts_.erase(tensor.storage().data());
    count_ = starts_.size();
  }

 private:
  std::mutex mutex_;
  std::unordered_set<const void*> starts_;
  std::atomic<std::size_t> count_{0};
};

UnknownData& unknown() {
  static auto* all = new UnknownData;
  return *all;
}

bool is_large_host_float(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_cpu() && tensor.layout() == c10::kStrided && tensor.has_storage() && tensor.is_floating_point() && tensor.storage().nbytes() >= kLargeBytes;
}

bool draws_at_random(const std::string& name) {
  return name == "aten::normal_" || name == "aten::uniform_" || name == "aten::exponential_" || name == "aten::cauchy_" || name == "aten::log_normal_";
}

/// `torch.rand(shape) < p` makes a mask, so what was drawn counts after all: it is drawn now.
void draw_after_all(const OpPlan& plan, const at::Tensor& self) {
  bool decides = false;
  for (const char* name : {"aten::lt", "aten::le", "aten::gt", "aten::ge", "aten::sort", "aten::argsort", "aten::topk", "aten::bernoulli"}) decides |= plan.name == name;
  if (!decides || !unknown().holds(self)) return;
  unknown().remove(self);
  const NoHooks below;
  const auto elements = static_cast<std::int64_t>(self.storage().nbytes() / self.element_size());
  at::from_blob(self.storage().mutable_data(), {elements}, self.options()).uniform_(0.0, 1.0, host_generator());
}

bool works_in_place_elementwise(const std::string& name) {
  for (const char* candidate : {"aten::mul_", "aten::add_", "aten::sub_", "aten::div_", "aten::erfinv_", "aten::clamp_", "aten::clamp_min_", "aten::clamp_max_"})
    if (name == candidate) return true;
  return false;
}

void leave_only(torch::jit::Stack* stack, std::size_t arguments, c10::IValue result) {
  torch::jit::drop(*stack, arguments);
  stack->push_back(std::move(result));
}

}  // namespace

bool skip_host_data(const c10::OperatorHandle& op, const OpPlan& plan, torch::jit::Stack* stack) {
  const std::size_t count = op.schema().arguments().size();
  if (count == 0) return false;
  const c10::IValue& first = torch::jit::peek(*stack, 0, count);
  if (!first.isTensor() || !is_large_host_float(first.toTensor())) return false;
  const at::Tensor self = first.toTensor();
  draw_after_all(plan, self);
  const bool random = draws_at_random(plan.name);
  if (random || (unknown().holds(self) && works_in_place_elementwise(plan.name))) {
    if (random) assume_everywhere("random initialisation on the host: skipped (float data is not computed)");
    unknown().add(self);
    leave_only(stack, count, self);
    return true;
  }
  if (plan.name == "aten::copy_") {
    const c10::IValue& source = torch::jit::peek(*stack, 1, count);
    if (!source.isTensor() || !source.toTensor().is_cpu() || !source.toTensor().has_storage() || !unknown().holds(source.toTensor()) || self.sizes() != source.toTensor().sizes()) return false;
    unknown().add(self);
    leave_only(stack, count, self);
    return true;
  }
  if (plan.name == "aten::clone" && unknown().holds(self)) {
    at::Tensor copy = at::empty_like(self);
    unknown().add(copy);
    leave_only(stack, count, copy);
    return true;
  }
  if (plan.name == "aten::_to_copy" && unknown().holds(self)) {
    // _to_copy(self, *, dtype, layout, device, pin_memory, non_blocking, memory_format)
    const c10::IValue& dtype = torch::jit::peek(*stack, 1, count);
    const c10::IValue& device = torch::jit::peek(*stack, 3, count);
    const auto to = dtype.isNone() ? self.scalar_type() : dtype.toScalarType();
    if ((!device.isNone() && !device.toDevice().is_cpu()) || !c10::isFloatingType(to)) return false;
    at::Tensor copy = at::empty_like(self, self.options().dtype(to));
    unknown().add(copy);
    leave_only(stack, count, copy);
    return true;
  }
  return false;
}

void note_host_data(const OpPlan& plan, const std::vector<c10::IValue>& arguments, const torch::jit::Stack& results, std::size_t first_result) {
  if (plan.uninitialised) {
    for (std::size_t i = first_result; i < results.size(); ++i)
      for_each_tensor(results[i], [](const at::Tensor& t) { if (is_large_host_float(t)) unknown().add(t); });
    return;
  }
  for (const std::size_t position : plan.written)
    if (position < arguments.size())
      for_each_tensor(arguments[position], [](const at::Tensor& t) { if (is_large_host_float(t)) unknown().remove(t); });
}

}  // namespace tidemark
