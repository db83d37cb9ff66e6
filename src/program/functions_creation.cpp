// Tensors that are made of nothing.
#include "ops/complex_numbers.h"
#include "program/function.h"
#include "program/functions.h"

namespace tidemark {
namespace {

Tensors filled(const FunctionCall& call, const char* name, const Dims& sizes, Dtype dtype) {
  const Op op(call.run, name);
  return {empty(call.run, sizes, dtype)};
}

Tensors filled_like(const FunctionCall& call, const char* name, std::size_t dtype) {
  const Op op(call.run, name);
  const Tensor like = call.tensor(0);
  return {empty_like(like, call.dtype_or(dtype, like.dtype()))};
}

/// Tensor.new_*: of the tensor's own type.
Tensors filled_as(const FunctionCall& call, const char* name, std::size_t dtype) {
  return filled(call, name, call.dims(1), call.dtype_or(dtype, call.tensor(0).dtype()));
}

/// torch.arange(end), (start, end) or (start, end, step).
Tensors arange_call(FunctionCall& call) {
  for (const std::size_t bound : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    if (!call.given(bound) || call.argument(bound).kind == Argument::Kind::number) continue;
    if (call.is_tensor(bound)) call.run.stream_calls.host_waits();  // which reads it
    return {arange(call.run, call.result_sizes()[0], call.dtype_or(3, call.result_dtype()))};
  }
  const bool has_start = call.given(1);
  const std::int64_t start = has_start ? call.integer(0) : 0, end = call.integer(has_start ? 1 : 0);
  const std::int64_t step = call.integer_or(2, 1);
  call.require(step > 0 && end >= start, "such a range");
  return {arange(call.run, (end - start + step - 1) / step, call.dtype_or(3, Dtype::int64))};
}

/// From the host: a number, or a list of them, of which the program tells the sizes.
Tensors tensor_call(FunctionCall& call) {
  return {to_device(call.run, call.result_sizes(), call.dtype_or(1, call.result_dtype()))};
}

/// A tensor that is of the type and on the device already is the result itself.
Tensors as_tensor_call(FunctionCall& call) {
  if (!call.is_tensor(0)) return tensor_call(call);
  const Tensor x = call.tensor(0);
  return {x.dtype() == call.dtype_or(1, x.dtype()) ? x : to(x, *call.dtype(1))};
}

/// A value that nothing was computed into asks for a gradient, which it then has as long as it is there: not in a part
/// that is frozen as its model freezes it, freeze_feature_encoder() (transformers 5.23.0: modeling_wav2vec2.py,
/// Wav2Vec2FeatureEncoder._requires_grad).
Tensors requires_grad_call(FunctionCall& call) {
  const Tensor x = call.tensor(0);
  if (call.is_frozen()) return {};
  call.require(!x.impl().grad_fn, "a value that was computed");
  x.impl().requires_grad = true;
  return {};
}

/// torch.distributions' Beta and Dirichlet, sampled.  torch: native/cuda/Distributions.cpp, _s_dirichlet_cuda: on the
/// card the gammas lie beside the result (2.15.0)
Tensors dirichlet_call(FunctionCall& call) {
  const Tensor x = call.tensor(0);
  call.require(!needs_grad(x), "a gradient");
  const Op op(call.run, "aten::_sample_dirichlet");
  Tensor result = empty_like(x);
  const Tensor gammas = empty_like(x);
  return {std::move(result)};
}

constexpr Function kCreationFunctions[] = {
    {"arange", "start end step dtype device layout pin_memory requires_grad", arange_call},
    {"look", "input", [](FunctionCall& c) { return c.tensor(0), Tensors{}; }},  // who has it in pieces puts it together
    {"requires_grad_", "input", requires_grad_call},
    {"torch.tensor tensor", "data dtype device requires_grad pin_memory", tensor_call},
    {"as_tensor", "data dtype device", as_tensor_call},
    {"rand", "*size dtype device",
     [](FunctionCall& c) { return filled(c, "aten::rand", c.dims(0), c.dtype_or(1, Dtype::f32)); }},
    {"randn", "*size dtype device",
     [](FunctionCall& c) { return filled(c, "aten::randn", c.dims(0), c.dtype_or(1, Dtype::f32)); }},
    {"_sample_dirichlet _Dirichlet", "input", dirichlet_call},
    {"zeros", "*size dtype device requires_grad layout",
     [](FunctionCall& c) { return filled(c, "aten::zeros", c.dims(0), c.dtype_or(1, Dtype::f32)); }},
    {"ones", "*size dtype device requires_grad",
     [](FunctionCall& c) { return filled(c, "aten::ones", c.dims(0), c.dtype_or(1, Dtype::f32)); }},
    {"empty", "*size dtype device requires_grad",
     [](FunctionCall& c) { return filled(c, "aten::empty", c.dims(0), c.dtype_or(1, Dtype::f32)); }},
    {"full", "size fill_value dtype device",
     [](FunctionCall& c) { return filled(c, "aten::full", c.dims(0), c.dtype_or(2, c.result_dtype())); }},
    {"eye", "n m dtype device",
     [](FunctionCall& c) { return filled(c, "aten::eye", c.result_sizes(), c.dtype_or(2, Dtype::f32)); }},
    {"zeros_like", "input dtype device memory_format",
     [](FunctionCall& c) { return filled_like(c, "aten::zeros_like", 1); }},
    {"polar", "abs angle", [](FunctionCall& c) { return Tensors{polar(c.tensor(0), c.tensor(1))}; }},
    {"ones_like", "input dtype device memory_format",
     [](FunctionCall& c) { return filled_like(c, "aten::ones_like", 1); }},
    {"empty_like", "input dtype device memory_format",
     [](FunctionCall& c) { return filled_like(c, "aten::empty_like", 1); }},
    {"full_like", "input fill_value dtype device",
     [](FunctionCall& c) { return filled_like(c, "aten::full_like", 2); }},
    {"new_zeros", "input *size dtype device", [](FunctionCall& c) { return filled_as(c, "aten::new_zeros", 2); }},
    {"new_ones", "input *size dtype device", [](FunctionCall& c) { return filled_as(c, "aten::new_ones", 2); }},
    {"new_empty", "input *size dtype device", [](FunctionCall& c) { return filled_as(c, "aten::new_empty", 2); }},
    {"new_full", "input size fill_value dtype device",
     [](FunctionCall& c) { return filled_as(c, "aten::new_full", 3); }},
};

}  // namespace

std::span<const Function> creation_functions() { return kCreationFunctions; }

}  // namespace tidemark
