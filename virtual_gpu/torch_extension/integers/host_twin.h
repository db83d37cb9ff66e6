// The same operation on the host: CPU tensors that alias the virtual device's memory.
#pragma once
#include <ATen/core/Generator.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <functional>
#include <vector>

#include "op_plan.h"

namespace tidemark {

using Arguments = std::vector<c10::IValue>;

/// Calls `visit` for every defined tensor in `value`: a tensor, an optional, a list of either.
void for_each_tensor(const c10::IValue& value, const std::function<void(const at::Tensor&)>& visit);
/// Bytes and strides, nothing else: not sparse, nested, quantised, symbolic or without storage.
bool is_plain(const at::Tensor& tensor);
/// Numbers drawn on the host for the virtual device come from a generator of our own: the user's must advance as on a
/// real run.
at::Generator& host_generator();
/// A plain integer or boolean tensor on the virtual device.
bool is_cuda_integer(const at::Tensor& tensor);
/// A CPU tensor over the very bytes of a CUDA tensor (others come back as they are).
at::Tensor host_alias(const at::Tensor& tensor);

/// For work on host aliases: neither our hook nor anybody's Python mode, and no autograd.
class NoHooks {
  const c10::impl::ExcludeDispatchKeyGuard no_modes_{
      c10::DispatchKeySet({c10::DispatchKey::Fake, c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot,
                           c10::DispatchKey::PythonDispatcher})};
  const at::AutoDispatchBelowADInplaceOrView no_autograd_;
};

/// What is computed for one tensor at most: larger ones are masks that only select floats.
constexpr std::size_t kComputedAtMostBytes = std::size_t{256} << 20;

/// Zeros on the virtual device.  Whole pages are given back instead of written.
void clear(const at::Tensor& tensor);

/// Runs `op` on host aliases of `arguments` and returns what it returned.  Written arguments are written in place.
/// Throws what the CPU kernel throws.  A CPU kernel that does not take the integer type is given wider numbers, if
/// nothing is written in place.
std::vector<c10::IValue> run_on_host(const c10::OperatorHandle& op, const OpPlan& plan, const Arguments& arguments);
/// Copies host results into the integer tensors among `results` (position by position, lists too).
void store(const c10::IValue& result, const c10::IValue& host_result);

}  // namespace tidemark
