// torch: tools/autograd/derivatives.yaml for what is kept; aten/src/ATen/autocast_mode.h, AT_FORALL_FP32, for those
// that autocast runs in float32 (2.11.0)
#include "ops/pointwise.h"

#include "ops/ops.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

Tensor made(const char* name, const Tensor& x) {
  const Op op(x, name);
  return empty_like(x);
}

/// An operation and its gradient, of which the formula is all that is its own.
Tensor keeps_argument(const char* name, const char* backward_name, Tensor x, BackwardFunction backward) {
  Tensors saved{x};
  Tensor y = made(name, x);
  return record(std::move(y), {std::move(x)}, {.name = backward_name, .saved = std::move(saved), .backward = backward});
}

Tensor keeps_result(const char* name, const char* backward_name, Tensor x, BackwardFunction backward) {
  Tensor y = made(name, x);
  Tensors saved{alias(y)};
  return record(std::move(y), {std::move(x)}, {.name = backward_name, .saved = std::move(saved), .backward = backward});
}

/// The gradient with each element scaled by its own number, in one kernel.
Tensors scaled(Backward& call) {
  const Layout* operands[] = {&call.gradient().layout(), &call.saved[0].layout()};
  return {empty(call.run, elementwise_layout(operands), call.gradient().dtype())};
}

Tensor number_like(const Tensor& x) { return empty(x.run(), Dims{}, x.dtype()); }

Tensor chosen(const Tensor& condition, const Tensor& x) {
  const Layout* operands[] = {&condition.layout(), &x.layout()};
  return empty(x.run(), elementwise_layout(operands), x.dtype());
}

}  // namespace

/// grad * self.sgn()
Tensor abs(Tensor x) {
  return keeps_argument("aten::abs", "AbsBackward0", std::move(x), [](Backward& call) -> Tensors {
    const Tensor sign = empty_like(call.saved[0]);
    return {mul(call.gradient(), sign)};
  });
}

/// grad / (2 * result)
Tensor sqrt(Tensor x) {
  return keeps_result("aten::sqrt", "SqrtBackward0", std::move(x), [](Backward& call) -> Tensors {
    const Tensor twice = mul_scalar(call.saved[0]);
    return {div(call.gradient(), twice)};
  });
}

/// grad / self
Tensor log(Tensor x) {
  const Tensor argument = x;
  return keeps_argument("aten::log", "LogBackward0", autocast_f32(std::move(x)),
                        [](Backward& call) -> Tensors { return {div(call.gradient(), call.saved[0])}; });
}

/// grad * (result + 1)
Tensor expm1(Tensor x) {
  const Tensor argument = x;
  return keeps_result("aten::expm1", "Expm1Backward0", autocast_f32(std::move(x)), [](Backward& call) -> Tensors {
    const Tensor more = add_scalar(call.saved[0]);
    return {mul(call.gradient(), more)};
  });
}

/// 2 / sqrt(pi) * exp(-(x ** 2)) * grad
Tensor erf(Tensor x) {
  return keeps_argument("aten::erf", "ErfBackward0", std::move(x), [](Backward& call) -> Tensors {
    const Tensor square = empty_like(call.saved[0]);
    const Tensor minus = neg(square);
    const Tensor bell = empty_like(minus);
    const Tensor scaled = mul_scalar(bell);
    return {mul(scaled, call.gradient())};
  });
}

/// 0.5 * sqrt(pi) * exp(self.erfinv().pow(2)) * grad; autocast runs it in float32.
Tensor erfinv(Tensor x) {
  const Tensor argument = x;
  x = autocast_f32(std::move(x));
  return keeps_argument("aten::erfinv", "ErfinvBackward0", std::move(x), [](Backward& call) -> Tensors {
    const Tensor again = empty_like(call.saved[0]);
    const Tensor square = empty_like(again);
    const Tensor bell = empty_like(square);
    const Tensor scaled = mul_scalar(bell);
    return {mul(scaled, call.gradient())};
  });
}

/// -grad * (result * result)
Tensor reciprocal(Tensor x) {
  const Tensor argument = x;
  return keeps_result("aten::reciprocal", "ReciprocalBackward0", autocast_f32(std::move(x)),
                      [](Backward& call) -> Tensors {
                        const Tensor minus = neg(call.gradient());
                        const Tensor square = mul(call.saved[0], call.saved[0]);
                        return {mul(minus, square)};
                      });
}

/// zeros_like(grad)
Tensor rounded(const char* name, const char* backward, Tensor x) {
  Tensor y = made(name, x);
  return record(std::move(y), {std::move(x)}, {.name = backward, .backward = [](Backward& call) -> Tensors {
                                                 return {empty_like(call.gradient())};
                                               }});
}

Tensor softplus(Tensor x) {
  const Tensor argument = x;
  return keeps_argument("aten::softplus", "SoftplusBackward0", autocast_f32(std::move(x)), scaled);
}

Tensor bent(const char* name, const char* backward, Tensor x) {
  return keeps_argument(name, backward, std::move(x), scaled);
}

Tensor rsub(Tensor x) {
  Tensor y = made("aten::rsub", x);
  return record(std::move(y), {std::move(x)}, {.name = "RsubBackward1", .backward = [](Backward& call) -> Tensors {
                                                 return {neg(call.gradient())};
                                               }});
}

Tensor sub_number(Tensor x) {
  Tensor y = made("aten::sub", x);
  return record(std::move(y), {std::move(x)},
                {.name = "SubBackward0", .backward = [](Backward& call) -> Tensors { return {call.gradient()}; }});
}

/// torch: FunctionsManual.cpp, clamp_backward: where(self >= min and self <= max, grad, 0)
Tensor clamp_between(Tensor x, bool both) {
  const BackwardFunction of_both = [](Backward& call) -> Tensors {
    const Tensor zero = number_like(call.gradient());
    const Tensor above = compare("aten::ge", call.saved[0]), below = compare("aten::le", call.saved[0]);
    return {chosen(above, call.gradient())};
  };
  const BackwardFunction of_one = [](Backward& call) -> Tensors {
    const Tensor zero = number_like(call.gradient());
    const Tensor inside = compare("aten::ge", call.saved[0]);
    return {chosen(inside, call.gradient())};
  };
  return keeps_argument("aten::clamp", "ClampBackward1", std::move(x), both ? of_both : of_one);
}

/// where(self >= min, grad, 0)
Tensor clamp_from(Tensor x) {
  return keeps_argument("aten::clamp_min", "ClampMinBackward0", std::move(x), [](Backward& call) -> Tensors {
    const Tensor zero = number_like(call.gradient());
    const Tensor inside = compare("aten::ge", call.saved[0]);
    return {chosen(inside, call.gradient())};
  });
}

/// where(self == other, grad / 2, grad).masked_fill_(self < other, 0), and the same of the other
Tensor maximum(Tensor a, Tensor b) {
  const Op op(a, b, "aten::maximum");
  Tensors saved{a, b};
  const Layout* operands[] = {&a.layout(), &b.layout()};
  Tensor y = empty(a.run(), elementwise_layout(operands), result_type(a, b));
  return record(std::move(y), {std::move(a), std::move(b)},
                {.name = "MaximumBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   const auto part = [&] {
                     const bool first = call.run.torch().maximum_compares_first;
                     const Tensor is_less = first ? logical("aten::lt", call.saved[0], call.saved[1]) : Tensor();
                     const Tensor half = div_scalar(call.gradient());
                     const Tensor is_same = logical("aten::eq", call.saved[0], call.saved[1]);
                     Tensor gradient = chosen(is_same, half);
                     const Tensor later = first ? Tensor() : logical("aten::lt", call.saved[0], call.saved[1]);
                     return gradient;
                   };
                   Tensor other = call.needs(1) ? part() : Tensor();
                   return {call.needs(0) ? part() : Tensor(), other};
                 }});
}

}  // namespace tidemark
