// Sums, means and what else makes few numbers of many; and what the host asks of them.
#include "ops/pointwise.h"
#include "ops/selection.h"
#include "program/function.h"
#include "program/functions.h"

namespace tidemark {
namespace {

/// `axis` is another name of `dim`.
Tensors mean_call(FunctionCall& call) {
  const std::size_t dim = call.given(3) ? 3 : 1;
  return {mean(call.tensor(0), call.given(dim) ? call.dims(dim) : Dims{}, call.flag_or(2, false))};
}

Tensors sum_call(FunctionCall& call) {
  const Dtype type = call.tensor(0).dtype(), result = call.dtype_or(3, type);
  call.require(result == type || (is_floating(type) && size_of(type) < 4 && result == Dtype::f32), "such a type");
  const Dims dims = call.given(1) ? call.dims(1) : Dims{};
  if (call.given(3)) return {sum_as(call.tensor(0), dims, call.flag_or(2, false), result)};
  return {sum(call.tensor(0), dims, call.flag_or(2, false))};
}

Tensors roll_call(FunctionCall& call) {
  return {roll(call.tensor(0), call.dims(1), call.given(2) ? call.dims(2) : Dims{})};
}

/// Along a dimension, or of a row over all: of whole numbers, whose type it keeps.
Tensors prod_call(FunctionCall& call) {
  const Tensor x = call.tensor(0);
  call.require(!call.given(3) && (call.given(1) || x.dims() == 1), "such a type, or all of several dimensions");
  return {prod(x, call.given(1) ? call.dimension(1) : 0, call.flag_or(2, false))};
}

/// Of booleans: whether all are true.
Tensors all_true(FunctionCall& call, const char* name) {
  const Op op(call.tensor(0), name);
  return {empty(call.run, Dims{}, Dtype::boolean)};
}

/// Over all, or along dimensions.
template <char... name>
Tensors truth_call(FunctionCall& call) {
  static constexpr char kName[] = {'a', 't', 'e', 'n', ':', ':', name..., '\0'};
  if (!call.given(1)) return all_true(call, kName);
  const Op op(call.tensor(0), kName);
  return {empty(call.run, call.result_sizes(), Dtype::boolean)};
}

/// Over all, along a dimension, or of two tensors.
Tensors extreme_call(FunctionCall& call, const char* name, const char* backward) {
  if (!call.given(1)) return {max(call.tensor(0))};
  if (call.is_tensor(1)) return {maximum(call.tensor(0), call.tensor(1))};
  auto [values, places] = extreme(name, backward, call.tensor(0), call.dimension(1), call.flag_or(2, false));
  return {std::move(values), std::move(places)};
}

Tensors place_call(FunctionCall& call, Tensor (*place)(Tensor)) {
  Tensor x = call.tensor(0);
  call.require(call.given(1) && x.sizes().at(call.dimension(1)) == x.dims() - 1, "another dimension than the last");
  return {place(std::move(x))};
}

Tensors topk_call(FunctionCall& call) {
  auto [values, places] = topk(call.tensor(0), call.integer(1));
  return {std::move(values), std::move(places)};
}

Tensors sort_call(FunctionCall& call) {
  auto [values, places] = sort(call.tensor(0));
  return {std::move(values), std::move(places)};
}

Tensors argsort_call(FunctionCall& call) {
  const Tensor x = call.tensor(0);
  if (call.run.on_host) return {empty(call.run, x.sizes(), Dtype::int64)};
  return {sort(x)[1]};
}

Tensors unique_consecutive_call(FunctionCall& call) {
  call.require(!call.flag_or(1, false) && !call.flag_or(2, false) && !call.given(3),
               "counts, inverse indices or a dimension");
  return {unique_consecutive(call.tensor(0), call.result_sizes()[0])};
}

/// The host waits for a number, unless it has it.
Tensors ask(FunctionCall& call) {
  const Tensor x = call.tensor(0);
  if (x.impl().storage->id == kNoBytes) return Tensors(0);
  const Tensor in_order =
      x.elements() > 1 ? contiguous(detach(x)) : x;  // native/cuda/Copy.cu, copy_requires_temporaries
  call.run.stream_calls.host_waits();
  return Tensors(0);
}

/// Tensor.norm(p=2, dim=-1, keepdim=True): torch/functional.py, norm
Tensors norm_call(FunctionCall& call) {
  const Tensor x = call.tensor(0);
  call.require(!call.given(1) || call.real_or(1, 2) == 2, "another norm than the second");
  const int dim = call.given(2) ? call.dimension(2) : 0, last = x.sizes().count() - 1;
  call.require(call.given(2) && (dim == -1 || dim == last) && call.flag_or(3, false),
               "another dimension than the last, or one that goes");
  return {linalg_vector_norm(x, 2, Dims{dim}, true)};
}

/// Along one dimension, by however many it is divided.
Tensors deviation_call(FunctionCall& call) {
  call.require(call.given(1), "all dimensions");
  return {deviation(call.tensor(0), call.dimension(1), call.flag_or(3, false))};
}

constexpr Function kReductionFunctions[] = {
    {"norm", "input p dim keepdim dtype", norm_call},
    {"mean", "input dim keepdim axis", mean_call},
    {"sum", "input dim keepdim dtype", sum_call},
    {"all", "input dim keepdim", truth_call<'a', 'l', 'l'>},
    {"any", "input dim keepdim", truth_call<'a', 'n', 'y'>},
    {"_is_all_true", "input", [](FunctionCall& c) { return all_true(c, "aten::_is_all_true"); }},
    {"max", "input dim keepdim", [](FunctionCall& c) { return extreme_call(c, "aten::max", "MaxBackward0"); }},
    {"min", "input dim keepdim", [](FunctionCall& c) { return extreme_call(c, "aten::min", "MinBackward0"); }},
    {"amax amin", "input dim keepdim",
     [](FunctionCall& c) { return Tensors{amax(c.tensor(0), c.dimension(1), c.flag_or(2, false))}; }},
    {"logsumexp", "input dim keepdim",
     [](FunctionCall& c) { return Tensors{logsumexp(c.tensor(0), c.dimension(1), c.flag_or(2, false))}; }},
    {"std", "input dim unbiased keepdim correction", deviation_call},
    {"triu", "input diagonal",
     [](FunctionCall& c) { return Tensors{triangle("aten::triu", "TriuBackward0", c.tensor(0))}; }},
    {"tril", "input diagonal",
     [](FunctionCall& c) { return Tensors{triangle("aten::tril", "TrilBackward0", c.tensor(0))}; }},
    {"flip", "input *dims", [](FunctionCall& c) { return Tensors{flip(c.tensor(0))}; }},
    {"roll", "input shifts dims", roll_call},
    {"prod", "input dim keepdim dtype", prod_call},
    {"cumsum", "input dim dtype",
     [](FunctionCall& c) { return Tensors{cumsum(c.tensor(0), c.dimension(1), c.dtype(2))}; }},
    {"argmax", "input dim keepdim", [](FunctionCall& c) { return place_call(c, argmax); }},
    {"argmin", "input dim keepdim", [](FunctionCall& c) { return place_call(c, argmin); }},
    {"topk", "input k dim largest sorted", topk_call},
    {"sort", "input dim descending stable", sort_call},
    {"argsort", "input dim descending stable", argsort_call},
    {"unique_consecutive", "input return_inverse return_counts dim", unique_consecutive_call},
    {"histc", "input bins min max",
     [](FunctionCall& c) { return Tensors{histc(c.tensor(0), c.of_experts(c.integer(1)))}; }},
    {"one_hot", "input num_classes", [](FunctionCall& c) { return Tensors{one_hot(c.tensor(0), c.integer(1))}; }},
    {"__bool__ item tolist __int__ __float__ __index__", "input", ask},
};

}  // namespace

std::span<const Function> reduction_functions() { return kReductionFunctions; }

}  // namespace tidemark
