// True integers on a device that computes nothing: a dispatcher hook below autograd, on every operation, in every
// thread.
//
// Note [The hook]
// It is a boxed fallback of dispatch key `Fake`, which PyTorch keeps for out-of-tree use (c10/core/DispatchKey.h) and
// nothing else uses.  It lies below autograd and above the backends, so the operation itself runs unmodified,
// allocations and all; afterwards, if everything it read was integer or boolean, the same operation runs on CPU tensors
// over the same memory.  No Python object is made for any tensor, so lifetimes, and with them the gradients that
// autograd steals instead of cloning, stay as they are. Under a Python mode (a user's TorchDispatchMode, selective
// checkpointing) the key is off further in, so the operation is made true as a whole when the mode has done with it.
// What a tensor subclass (DTensor, fake tensors) does inside itself is not seen.
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include "../assumptions/assumptions.h"
#include "../stand_in.h"
#include "census.h"
#include "decided_data.h"
#include "host_data.h"
#include "host_twin.h"
#include "op_plan.h"
#include "op_work.h"
#include "sized_results.h"
#include "untouched_data.h"

namespace tidemark {
namespace {

const OpPlan kWritesNothing;

/// Tells the stand-in's copies that no byte of this operation matters, for as long as it runs.
class FloatData {
 public:
  explicit FloatData(bool yes) { set(yes); }
  ~FloatData() { set(outer_); }
  FloatData(const FloatData&) = delete;
  FloatData& operator=(const FloatData&) = delete;

 private:
  static void set(bool yes) {
    if (yes != current_) tidemark_data_is_float(current_ = yes);
  }
  static thread_local bool current_;
  const bool outer_ = current_;  // operations nest
};
thread_local bool FloatData::current_ = false;

/// The integer tensors that the call wrote: written arguments, and fresh results.
std::vector<at::Tensor> integer_outputs(const OpPlan& plan, const Arguments& arguments, const torch::jit::Stack& stack,
                                        std::size_t first_result, bool cuda_inputs) {
  std::vector<at::Tensor> outputs;
  const auto add = [&](const at::Tensor& tensor) {
    if (is_cuda_integer(tensor) ||
        (cuda_inputs && tensor.is_cpu() && is_plain(tensor) && c10::isIntegralType(tensor.scalar_type(), true)))
      outputs.push_back(tensor);
  };
  for (const std::size_t position : plan.written) for_each_tensor(arguments[position], add);
  if (plan.returns_fresh)
    for (std::size_t i = first_result; i < stack.size(); ++i) for_each_tensor(stack[i], add);
  return outputs;
}

/// A number read from the device: true for integers, zero for floats.
void answer_scalar(const c10::OperatorHandle& op, const OpPlan& plan, const Arguments& arguments, const Census& census,
                   torch::jit::Stack* stack) {
  if (!census.cuda_inputs) return;
  c10::IValue& result = stack->back();
  if (plan.name == "aten::equal") {
    if (!census.cuda_floats)
      result = run_on_host(op, plan, arguments).back();
    else if (!(result = are_the_same_bytes(arguments[0], arguments[1])).toBool())
      assume("torch.equal of float data: false, unless it is the same tensor twice");
    return;
  }
  if (!census.cuda_floats) return;  // read from memory that is true, or from a count that was promised
  if (result.isDouble())
    result = 0.0;
  else if (result.isComplexDouble())
    result = c10::complex<double>(0.0, 0.0);
  else
    return;
  assume("float value read back from the device: 0");
}

/// Bytes of integer data that `outputs` hold.
std::size_t total_bytes(const std::vector<at::Tensor>& outputs) {
  std::size_t bytes = 0;
  for (const at::Tensor& output : outputs) bytes += output.nbytes();
  return bytes;
}

/// Written integer arguments, and known floats, as they were: the operation's own nested calls may have applied
/// themselves already.
class Before {
 public:
  Before(const OpPlan& plan, const Arguments& arguments) : arguments_(arguments) {
    if (plan.written.empty() || plan.overwrites) return;
    const NoHooks below;
    for (const std::size_t position : plan.written)
      for_each_tensor(arguments[position], [&](const at::Tensor& tensor) {
        if ((is_cuda_integer(tensor) || is_known_float(tensor)) && tensor.nbytes() <= kComputedAtMostBytes)
          saved_.emplace_back(&tensor_impl(tensor), host_alias(tensor).clone());
      });
  }
  /// A tensor that the operation has resized (`out=`) is written as a whole, so nothing is put back there.
  void restore(const OpPlan& plan) {
    auto next = saved_.begin();
    for (const std::size_t position : plan.written)
      for_each_tensor(arguments_[position], [&](const at::Tensor& tensor) {
        if (next == saved_.end() || next->first != &tensor_impl(tensor)) return;
        if (tensor.sizes() == next->second.sizes()) host_alias(tensor).copy_(next->second);
        ++next;
      });
  }

 private:
  static const c10::TensorImpl& tensor_impl(const at::Tensor& tensor) { return *tensor.unsafeGetTensorImpl(); }
  const Arguments& arguments_;
  std::vector<std::pair<const c10::TensorImpl*, at::Tensor>> saved_;
};

/// Zeros in fresh integer memory: a kernel that is no operation of PyTorch (Triton) may be what should write it, and no
/// integers of earlier tensors may stand there.
void clear_fresh(const OpPlan& plan, const torch::jit::Stack& stack, std::size_t first_result) {
  if (!plan.returns_fresh) return;
  for (std::size_t i = first_result; i < stack.size(); ++i)
    for_each_tensor(stack[i], [](const at::Tensor& tensor) {
      if (is_cuda_integer(tensor) && tensor.is_non_overlapping_and_dense()) clear(tensor);
    });
}

/// Zero-filling drops pages instead of touching them.
bool fill_with_zero(const OpPlan& plan, const Arguments& arguments) {
  if (plan.name != "aten::fill_" || !arguments[1].isScalar() || arguments[1].toScalar().isBoolean() ||
      arguments[1].toScalar().toDouble() != 0.0)
    return false;
  const at::Tensor& self = arguments[0].toTensor();
  if (!is_cuda_integer(self) || !self.is_non_overlapping_and_dense()) return false;
  clear(self);
  return true;
}

/// `floats`: whether known ones are made too.
void make_true(const c10::OperatorHandle& op, const OpPlan& plan, const Arguments& arguments,
               const torch::jit::Stack& stack, std::size_t first_result, Before& before, bool floats) {
  if (fill_with_zero(plan, arguments)) return;
  try {
    before.restore(plan);
    const auto host_results = run_on_host(op, plan, arguments);
    if (plan.returns_fresh)
      for (std::size_t i = 0; i < host_results.size() && first_result + i < stack.size(); ++i) {
        store(stack[first_result + i], host_results[i]);
        if (floats) store_floats(stack[first_result + i], host_results[i]);
      }
  } catch (const std::exception&) {
    forget_floats(plan, arguments);
    if (integer_outputs(plan, arguments, stack, first_result, true).empty()) return;
    assume("integer operation " + plan.name.substr(plan.name.find("::") + 2) +
           " has no host counterpart for these arguments: zeros");
  }
}

/// Runs the operation itself, with what it needs to be told meanwhile; the card's clock is told of it.
void run_for_real(const c10::OperatorHandle& op, c10::DispatchKeySet below, const OpPlan& plan,
                  const Arguments& arguments, const Census& census, torch::jit::Stack* stack) {
  const std::size_t first_result = stack->size() - arguments.size();
  const OpWork work;
  const PromisedCount promised(op, plan, arguments, census, below.has(c10::DispatchKey::Python));
  const FloatData float_data(!census.integers && !census.known_floats);
  op.redispatchBoxed(below, stack);
  work.tell(plan, arguments, *stack, first_result);
}

bool has_subclass(const torch::jit::Stack& stack, std::size_t count) {
  bool found = false;
  for (auto value = stack.end() - static_cast<std::ptrdiff_t>(count); value != stack.end(); ++value)
    for_each_tensor(*value,
                    [&](const at::Tensor& tensor) { found |= tensor.unsafeGetTensorImpl()->is_python_dispatch(); });
  return found;
}

void hook(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) {
  const auto below = keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::Fake);
  const OpPlan& plan = plan_of(op);
  const std::size_t count = op.schema().arguments().size();
  const bool python = keys.has(c10::DispatchKey::Python);
  if (!plan.matters() || below.has_backend(c10::BackendComponent::MetaBit) || (python && has_subclass(*stack, count)))
    return op.redispatchBoxed(below, stack);
  if (skip_host_data(op, plan, stack)) return;
  const Arguments arguments(stack->end() - static_cast<std::ptrdiff_t>(count), stack->end());
  const Census census = take_census(arguments);
  const std::size_t first_result = stack->size() - count;
  const bool integers_alone = !census.cuda_floats && !plan.uninitialised && !plan.zeroes && !plan.draws_inside;
  Before before(integers_alone && (census.integers || census.known_floats) ? plan : kWritesNothing, arguments);
  run_for_real(op, below, plan, arguments, census, stack);
  store_places(plan, arguments, *stack);
  if (plan.uninitialised) forget_floats(plan, arguments);
  if (!plan.written.empty() || plan.uninitialised) note_host_data(plan, arguments, *stack, first_result);
  if (plan.uninitialised) return clear_fresh(plan, *stack, first_result);
  if (plan.reads_scalar) return answer_scalar(op, plan, arguments, census, stack);
  const auto outputs = integer_outputs(plan, arguments, *stack, first_result, census.cuda_inputs);
  const bool floats = integers_alone && census.cuda_inputs && gives_known_floats(plan, arguments, *stack, first_result);
  if (!floats) forget_floats(plan, arguments);
  if ((outputs.empty() && !floats) || plan.zeroes || (!census.cuda_floats && plan.draws_inside)) return;
  const NoHooks on_host;
  if (census.cuda_floats && plan.like_in_shape)
    fill_like(plan, arguments, outputs, python);
  else if (census.cuda_floats)
    decide(plan, arguments, outputs);
  else if (!floats && compute_from_one_element(op, plan, arguments, outputs))
    return;
  else if (total_bytes(outputs) > kComputedAtMostBytes)
    assume("integer data beyond 256 MiB: not computed");
  else
    make_true(op, plan, arguments, *stack, first_result, before, floats);
}

}  // namespace
}  // namespace tidemark

extern "C" {  // for python/tidemark (ctypes)

/// Puts the hook in place.  False: this PyTorch does not let it.
bool tidemark_start_true_integers() {
  try {
    static torch::Library library(torch::Library::IMPL, "_", c10::DispatchKey::Fake, __FILE__, __LINE__);
    library.fallback(torch::CppFunction::makeFromBoxedFunction<&tidemark::hook>());
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// Switches the hook on or off for this thread; threads of the autograd engine inherit it from the caller of backward.
void tidemark_keep_integers_true(bool yes) { c10::impl::tls_set_dispatch_key_included(c10::DispatchKey::Fake, yes); }
void tidemark_set_routing(double skew) { tidemark::set_routing({skew}); }

}  // extern "C"
