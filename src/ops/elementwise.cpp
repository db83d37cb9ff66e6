// One result per element.  torch: tools/autograd/derivatives.yaml for what is kept; ATen/native/cuda for temporaries.
#include "ops/ops.h"

namespace tidemark {
namespace {

Tensor result_of(const Tensor& a, const Tensor& b, Dtype dtype) {
  const Layout* operands[] = {&a.layout(), &b.layout()};
  return empty(a.run(), elementwise_layout(operands), dtype);
}

Tensors pass_to_both(Backward& call) {
  return {call.needs(0) ? call.gradient() : Tensor(), call.needs(1) ? call.gradient() : Tensor()};
}

Tensor unary(const char* name, Tensor x) {
  const Op op(x, name);
  return empty_like(x);
}

}  // namespace

Dtype result_type(const Tensor& a, const Tensor& b) {
  if ((a.dims() == 0) == (b.dims() == 0) || is_floating(a.dtype()) != is_floating(b.dtype()))
    return promote(a.dtype(), b.dtype());
  return a.dims() == 0 ? b.dtype() : a.dtype();
}

Tensor add(Tensor a, Tensor b) {
  const Op op(a, b, "aten::add");
  Tensor y = result_of(a, b, result_type(a, b));
  return record(std::move(y), {std::move(a), std::move(b)}, {.name = "AddBackward0", .backward = pass_to_both});
}

Tensor add(Pair operands) { return add(std::move(operands.a), std::move(operands.b)); }

Tensor add_(Tensor a, Tensor b) {
  Tensor y = a;
  return record(std::move(y), {std::move(a), std::move(b)}, {.name = "AddBackward0", .backward = pass_to_both});
}

Tensor sub(Tensor a, Tensor b) {
  const Op op(a, "aten::sub");
  Tensor y = result_of(a, b, result_type(a, b));
  return record(std::move(y), {std::move(a), std::move(b)},
                {.name = "SubBackward0", .backward = [](Backward& call) -> Tensors {
                   Tensor other = call.needs(1) ? neg(call.gradient()) : Tensor();
                   return {call.needs(0) ? call.gradient() : Tensor(), other};
                 }});
}

namespace {

/// Times the conjugate, which of complex numbers is made for the multiplication.  torch: autograd/FunctionsManual.cpp,
/// mul_tensor_backward; ATen/ConjugateFallback.cpp
Tensor times_conjugate(const Tensor& gradient, const Tensor& x) {
  return mul(gradient, x.dtype() == Dtype::complex64 ? empty_like(x) : x);
}

Tensors mul_backward(Backward& call) {
  Tensor other = call.needs(1) ? times_conjugate(call.gradient(), call.saved[0]) : Tensor();
  return {call.needs(0) ? times_conjugate(call.gradient(), call.saved[1]) : Tensor(), other};
}

}  // namespace

Tensor mul(Tensor a, Tensor b) {
  const Op op(a, b, "aten::mul");
  Tensors saved{needs_grad(b) ? a : Tensor(), needs_grad(a) ? b : Tensor()};
  Tensor y = result_of(a, b, result_type(a, b));
  return record(std::move(y), {std::move(a), std::move(b)},
                {.name = "MulBackward0", .saved = std::move(saved), .backward = mul_backward});
}

/// What it keeps of itself is a copy, made before.
Tensor mul_(Tensor a, Tensor b) {
  const Op op(a, "aten::mul_");
  Tensors saved{needs_grad(b) ? empty_like(a) : Tensor(), needs_grad(a) ? b : Tensor()};
  Tensor y = a;
  return record(std::move(y), {std::move(a), std::move(b)},
                {.name = "MulBackward0", .saved = std::move(saved), .backward = mul_backward});
}

Tensor mul(Pair operands) { return mul(std::move(operands.a), std::move(operands.b)); }

namespace {

Tensors div_backward(Backward& call) {
  Tensor other;
  if (call.needs(1)) {  // -grad * ((self / other) / other)
    const Tensor ratio = div(call.saved[0], call.saved[1]);
    const Tensor ratio_over_b = div(ratio, call.saved[1]);
    const Tensor minus = neg(call.gradient());
    other = mul(minus, ratio_over_b);
  }
  return {call.needs(0) ? div(call.gradient(), call.saved[1]) : Tensor(), other};
}

}  // namespace

/// Of whole numbers: float32.
Tensor div(Tensor a, Tensor b) {
  const Op op(a, "aten::div");
  Tensors saved{needs_grad(b) ? a : Tensor(), b};
  const Dtype type = result_type(a, b);
  Tensor y = result_of(a, b, is_floating(type) ? type : Dtype::f32);
  return record(std::move(y), {std::move(a), std::move(b)},
                {.name = "DivBackward0", .saved = std::move(saved), .backward = div_backward});
}

/// What it keeps of itself is a copy, made before.  torch: tools/autograd/gen_variable_type.py, original_self
Tensor div_(Tensor a, Tensor b) {
  const Op op(a, "aten::div_");
  Tensors saved{needs_grad(b) ? empty_like(a) : Tensor(), b};
  Tensor y = a;
  return record(std::move(y), {std::move(a), std::move(b)},
                {.name = "DivBackward0", .saved = std::move(saved), .backward = div_backward});
}

Tensor add_scalar(Tensor x) {
  Tensor y = unary("aten::add", x);
  return record(std::move(y), {std::move(x)},
                {.name = "AddBackward0", .backward = [](Backward& call) -> Tensors { return {call.gradient()}; }});
}

Tensor mul_scalar(Tensor x) {
  Tensor y = unary("aten::mul", x);
  return record(std::move(y), {std::move(x)}, {.name = "MulBackward0", .backward = [](Backward& call) -> Tensors {
                                                 return {mul_scalar(call.gradient())};
                                               }});
}

Tensor div_scalar(Tensor x) {
  Tensor y = unary("aten::div", x);
  return record(std::move(y), {std::move(x)}, {.name = "DivBackward0", .backward = [](Backward& call) -> Tensors {
                                                 return {div_scalar(call.gradient())};
                                               }});
}

Tensor sub_scalar(Tensor x) { return unary("aten::sub", std::move(x)); }

Tensor floor_divide(Tensor x) { return unary("aten::floor_divide", std::move(x)); }

Tensor fmod(Tensor x) { return unary("aten::fmod", std::move(x)); }

Tensor clamp(Tensor x) { return unary("aten::clamp", std::move(x)); }

Tensor neg(Tensor x) {
  Tensor y = unary("aten::neg", x);
  return record(std::move(y), {std::move(x)},
                {.name = "NegBackward0", .backward = [](Backward& call) -> Tensors { return {neg(call.gradient())}; }});
}

/// x ** n.  Its gradient is grad * (n * x ** (n - 1)): three results.
Tensor pow3(Tensor x) {
  const Tensor argument = x;
  x = autocast_f32(std::move(x));
  Tensors saved{x};
  Tensor y = unary("aten::pow", x);
  return record(std::move(y), {std::move(x)},
                {.name = "PowBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   const Tensor power = empty_like(call.saved[0]);
                   const Tensor multiplied = mul_scalar(power);
                   return {mul(call.gradient(), multiplied)};
                 }});
}

Tensor pow2(Tensor x) { return pow3(std::move(x)); }

/// Its gradient is -0.5 * grad * y ** 3.
Tensor rsqrt(Tensor x) {
  const Tensor argument = x;
  x = autocast_f32(std::move(x));
  Tensor y = unary("aten::rsqrt", x);
  Tensors saved{alias(y)};
  return record(std::move(y), {std::move(x)},
                {.name = "RsqrtBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   const Tensor half = mul_scalar(call.gradient());
                   const Tensor cube = empty_like(call.saved[0]);
                   return {mul(half, cube)};
                 }});
}

Tensor cos(Tensor x) {
  Tensors saved{x};
  Tensor y = unary("aten::cos", x);
  return record(std::move(y), {std::move(x)},
                {.name = "CosBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   const Tensor sine = sin(call.saved[0]);
                   const Tensor minus = neg(sine);
                   return {mul(call.gradient(), minus)};
                 }});
}

Tensor sin(Tensor x) {
  Tensors saved{x};
  Tensor y = unary("aten::sin", x);
  return record(std::move(y), {std::move(x)},
                {.name = "SinBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   const Tensor cosine = cos(call.saved[0]);
                   return {mul(call.gradient(), cosine)};
                 }});
}

Tensor tanh(Tensor x) {
  Tensor y = unary("aten::tanh", x);
  Tensors saved{alias(y)};
  return record(std::move(y), {std::move(x)},
                {.name = "TanhBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   return {empty_like(call.gradient())};
                 }});
}

Tensor sigmoid(Tensor x) {
  Tensor y = unary("aten::sigmoid", x);
  Tensors saved{alias(y)};
  return record(std::move(y), {std::move(x)},
                {.name = "SigmoidBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   return {empty_like(call.gradient())};
                 }});
}

Tensor exp(Tensor x) {
  const Tensor argument = x;
  x = autocast_f32(std::move(x));
  Tensor y = unary("aten::exp", x);
  Tensors saved{alias(y)};
  return record(std::move(y), {std::move(x)},
                {.name = "ExpBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   return {mul(call.gradient(), call.saved[0])};
                 }});
}

Tensor compare(const char* name, Tensor a) {
  const Op op(a, name);
  return empty_like(a, Dtype::boolean);
}

Tensor logical(const char* name, Tensor a, Tensor b) {
  const Op op(a, name);
  return result_of(a, b, Dtype::boolean);
}

Tensor bitwise(const char* name, Tensor a, Tensor b) {
  const Op op(a, name);
  return result_of(a, b, result_type(a, b));
}

Tensor bitwise(const char* name, Tensor a) {
  const Op op(a, name);
  return empty_like(a);
}

Tensor pow_tensor(Tensor base, Tensor powers) {
  const Op op(base, "aten::pow");
  return result_of(base, powers, result_type(base, powers));
}

/// Keeps the condition.  Its gradients are where(condition, grad, 0) and where(condition, 0, grad): the number becomes
/// a tensor first.
Tensor where(Tensor condition, Tensor a, Tensor b) {
  const Op op(a, "aten::where");
  const auto chosen = [&] {  // what is of another type is cast first: native/TensorCompare.cpp, where_self_out (2.15.0)
    const Dtype type = result_type(a, b);
    const Tensor cast_a = a.dtype() != type ? empty_like(a, type) : a,
                 cast_b = b.dtype() != type ? empty_like(b, type) : b;
    const Layout* operands[] = {&condition.layout(), &cast_a.layout(), &cast_b.layout()};
    return empty(a.run(), elementwise_layout(operands), type);
  };
  Tensor y = chosen();
  Tensors saved{std::move(condition)};
  return record(std::move(y), {std::move(a), std::move(b)},
                {.name = "WhereBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   const auto masked = [&] {
                     const Tensor zero = empty(call.run, Dims{}, call.gradient().dtype());
                     const Layout* parts[] = {&call.saved[0].layout(), &call.gradient().layout()};
                     return empty(call.run, elementwise_layout(parts), call.gradient().dtype());
                   };
                   Tensor other = call.needs(1) ? masked() : Tensor();
                   return {call.needs(0) ? masked() : Tensor(), other};
                 }});
}

}  // namespace tidemark
