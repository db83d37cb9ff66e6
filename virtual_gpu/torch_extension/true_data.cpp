// True integers on a device that computes nothing: a dispatcher hook below autograd, on every operation, in every thread.
//
// Note [The hook]
// It is a boxed fallback of dispatch key `Fake`, which PyTorch keeps for out-of-tree use (c10/core/DispatchKey.h) and nothing else
// uses.  It lies below autograd and above the backends, so the operation itself runs unmodified, allocations and all; afterwards, if
// everything it read was integer or boolean, the same operation runs on CPU tensors over the same memory.  No Python object is made
// for any tensor, so lifetimes, and with them the gradients that autograd steals instead of cloning, stay as they are.
#include "true_data.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include "assumptions.h"
#include "decided_data.h"
#include "host_data.h"
#include "host_twin.h"
#include "op_plan.h"
#include "stand_in.h"

namespace tidemark {
namespace {

constexpr std::size_t kComputedAtMostBytes = std::size_t{256} << 20;

/// What one call reads and writes.
struct Census {
  bool cuda_inputs = false, cuda_floats = false, integers = false;
};

Census take_census(const Arguments& arguments) {
  Census census;
  for (const c10::IValue& value : arguments)
    for_each_tensor(value, [&](const at::Tensor& tensor) {
      const bool integer = c10::isIntegralType(tensor.scalar_type(), true);
      census.integers |= integer;
      if (!tensor.is_cuda()) return;
      census.cuda_inputs = true;
      census.cuda_floats |= !integer;
    });
  return census;
}

/// Tells the stand-in's copies that no byte of this operation matters, for as long as it runs.
class FloatData {
 public:
  explicit FloatData(bool yes) : yes_(yes) { if (yes_) tidemark_data_is_float(true); }
  ~FloatData() { if (yes_) tidemark_data_is_float(false); }
  FloatData(const FloatData&) = delete;
  FloatData& operator=(const FloatData&) = delete;

 private:
  const bool yes_;
};

/// The integer tensors that the call wrote: written arguments, and fresh results.
std::vector<at::Tensor> integer_outputs(const OpPlan& plan, const Arguments& arguments, const torch::jit::Stack& stack, std::size_t first_result, bool cuda_inputs) {
  std::vector<at::Tensor> outputs;
  const auto add = [&](const at::Tensor& tensor) {
    if (is_cuda_integer(tensor) || (cuda_inputs && tensor.is_cpu() && c10::isIntegralType(tensor.scalar_type(), true))) outputs.push_back(tensor);
  };
  for (const std::size_t position : plan.written) for_each_tensor(arguments[position], add);
  if (plan.returns_fresh)
    for (std::size_t i = first_result; i < stack.size(); ++i) for_each_tensor(stack[i], add);
  return outputs;
}

/// Operations whose result's size is read back from the device while they run: the true count is promised to that read.
void promise_sizes(const c10::OperatorHandle& op, const OpPlan& plan, const Arguments& arguments, const Census& census) {
  if (!census.cuda_inputs) return;
  if (plan.name == "aten::nonzero") {
    if (census.cuda_floats) {
      assume("nonzero of float data: none");
      return tidemark_promise_count(0);
    }
    const auto found = run_on_host(op, plan, arguments);
    tidemark_promise_count(found[0].toTensor().size(0));
  } else if (plan.name == "aten::_unique2" || plan.name == "aten::_unique" || plan.name == "aten::unique_consecutive" || plan.name == "aten::unique_dim" || plan.name == "aten::unique_dim_consecutive") {
    if (census.cuda_floats) {
      assume("unique of float data: every element");
      return tidemark_promise_count(arguments[0].toTensor().numel());
    }
    const auto found = run_on_host(op, plan, arguments);
    const bool along_dim = plan.name.find("_dim") != std::string::npos;
    tidemark_promise_count(along_dim ? found[0].toTensor().size(arguments[1].toInt() < 0 ? arguments[1].toInt() + found[0].toTensor().dim() : arguments[1].toInt())
                                     : found[0].toTensor().numel());
  }
}

/// A number read from the device (`item`, `equal`): true for integers, zero for floats.
void answer_scalar(const c10::OperatorHandle& op, const OpPlan& plan, const Arguments& arguments, const Census& census, torch::jit::Stack* stack) {
  if (!census.cuda_inputs || stack->empty()) return;
  if (!census.cuda_floats) {
    stack->back() = run_on_host(op, plan, arguments).back();
    return;
  }
  c10::IValue& result = stack->back();
  if (result.isBool()) result = false;
  else if (result.isDouble()) result = 0.0;
  else if (result.isComplexDouble()) result = c10::complex<double>(0.0, 0.0);
  else return;
  assume("float value read back from the device: 0");
}

/// Bytes of integer data that `outputs` hold.
std::size_t total_bytes(const std::vector<at::Tensor>& outputs) {
  std::size_t bytes = 0;
  for (const at::Tensor& output : outputs) bytes += output.nbytes();
  return bytes;
}

/// Written integer arguments as they were: the operation's own nested calls may have applied themselves already.
std::vector<std::pair<at::Tensor, at::Tensor>> snapshot_written(const OpPlan& plan, const Arguments& arguments) {
  std::vector<std::pair<at::Tensor, at::Tensor>> saved;
  for (const std::size_t position : plan.written)
    for_each_tensor(arguments[position], [&](const at::Tensor& tensor) {
      if (!is_cuda_integer(tensor) || tensor.nbytes() > kComputedAtMostBytes) return;
      const c10::impl::ExcludeDispatchKeyGuard no_hook(c10::DispatchKey::Fake);
      const at::AutoDispatchBelowADInplaceOrView no_autograd;
      at::Tensor alias = host_alias(tensor);
      saved.emplace_back(alias, alias.clone());
    });
  return saved;
}

void make_true(const c10::OperatorHandle& op, const OpPlan& plan, const Arguments& arguments, const torch::jit::Stack& stack, std::size_t first_result,
               const std::vector<std::pair<at::Tensor, at::Tensor>>& before) {
  const c10::impl::ExcludeDispatchKeyGuard no_hook(c10::DispatchKey::Fake);
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  for (const auto& [alias, old] : before) const_cast<at::Tensor&>(alias).copy_(old);
  try {
    const auto host_results = run_on_host(op, plan, arguments);
    if (plan.returns_fresh)
      for (std::size_t i = 0; i < host_results.size() && first_result + i < stack.size(); ++i) store(stack[first_result + i], host_results[i]);
  } catch (const std::exception&) {
    assume("integer operation " + plan.name.substr(plan.name.find("::") + 2) + " has no host counterpart for these arguments: zeros");
  }
}

void hook(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const auto below = keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::Fake);
  const OpPlan& plan = plan_of(op);
  // Under a Python mode or subclass (fake tensors, DTensor) the operation comes by again, with plain tensors, if it is to run at all.
  if (!plan.matters() || keys.has(c10::DispatchKey::Python)) return op.redispatchBoxed(below, stack);
  const std::size_t count = op.schema().arguments().size();
  if (skip_host_data(op, plan, stack)) return;
  const Arguments arguments(stack->end() - static_cast<std::ptrdiff_t>(count), stack->end());
  const Census census = take_census(arguments);
  const std::size_t first_result = stack->size() - count;
  promise_sizes(op, plan, arguments, census);
  const auto before = census.integers && !plan.uninitialised ? snapshot_written(plan, arguments) : std::vector<std::pair<at::Tensor, at::Tensor>>{};
  {
    const FloatData float_data(!census.integers);
    op.redispatchBoxed(below, stack);
  }
  if (!plan.written.empty() || plan.uninitialised) note_host_data(plan, arguments, *stack, first_result);
  if (plan.uninitialised) return;
  if (plan.returns_scalar) answer_scalar(op, plan, arguments, census, stack);
  const auto outputs = integer_outputs(plan, arguments, *stack, first_result, census.cuda_inputs);
  if (outputs.empty()) return;
  if (!census.cuda_floats && total_bytes(outputs) > kComputedAtMostBytes) return assume("integer data beyond 256 MiB: not computed");
  const c10::impl::ExcludeDispatchKeyGuard no_hook(c10::DispatchKey::Fake);
  const at::AutoDispatchBelowADInplaceOrView no_autograd;
  if (census.cuda_floats) decide(plan, arguments, outputs);
  else make_true(op, plan, arguments, *stack, first_result, before);
}

}  // namespace

void keep_integers_true(bool yes) { c10::impl::tls_set_dispatch_key_included(c10::DispatchKey::Fake, yes); }

}  // namespace tidemark

TORCH_LIBRARY_IMPL(_, Fake, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&tidemark::hook>()); }
