// One result per element.
#include "ops/in_place.h"
#include "ops/pointwise.h"
#include "ops/selection.h"
#include "program/function.h"
#include "program/functions.h"

namespace tidemark {
namespace {

using Unary = Tensor (*)(Tensor);
using Binary = Tensor (*)(Tensor, Tensor);

/// A tensor on the host without dimensions, beside one of the card, which takes it as a number.
bool is_number_on_host(const FunctionCall& call) {
  const Tensor number = call.tensor(1);
  return number.dims() == 0 && number.is_on_host() && !call.tensor(0).is_on_host() && !needs_grad(number);
}

/// a (+) b, where one of them may be a number: of whole numbers and a fraction that is float32.
Tensors with_number(const FunctionCall& call, Binary of_tensors, Unary of_number) {
  const bool both = call.is_tensor(0) && call.is_tensor(1);
  if (both && !is_number_on_host(call)) return {of_tensors(call.tensor(0), call.tensor(1))};
  const std::size_t tensor = call.is_tensor(0) ? 0 : 1;
  const Tensor x = call.tensor(tensor);
  const bool is_real =
      both ? is_floating(call.tensor(1).dtype()) : call.argument(1 - tensor).kind == Argument::Kind::real;
  const bool is_fraction = is_real || of_number == Unary{div_scalar};
  if (is_floating(x.dtype()) || !is_fraction) return {of_number(x)};
  const Op op(x, "aten::binary");
  return {empty_like(x, Dtype::f32)};
}

/// torch.diff: what stands before and behind it is put beside it first.  torch: native/ReduceOps.cpp, diff (2.15.0)
Tensors diff_call(FunctionCall& call) {
  call.require(call.integer_or(1, 1) == 1, "more than one difference");
  const int d = static_cast<int>(call.integer_or(2, -1));
  Tensor x = call.tensor(0);
  call.require(x.dtype() != Dtype::boolean, "booleans");
  Tensors parts;
  for (const std::size_t beside : {3, 0, 4})
    if (call.given(beside)) parts.push_back(call.tensor(beside));
  if (parts.size() > 1) x = cat(std::move(parts), d);
  const std::int64_t length = x.size(d);
  Tensor following = slice(x, d, 1, length), first = slice(std::move(x), d, 0, length - 1);
  return {sub(std::move(following), std::move(first))};
}

template <Unary operation>
Tensors unary(FunctionCall& call) {
  return {operation(call.tensor(0))};
}

template <Binary operation>
Tensors scaled_in_place(FunctionCall& call) {
  if (!call.is_tensor(1)) return {scale_(call.tensor(0))};
  return {operation(call.tensor(0), call.tensor(1))};
}

/// A number changes nothing that is kept.
Tensors add_in_place(FunctionCall& call) {
  if (!call.is_tensor(1)) return {call.tensor(0)};
  return {add_into(call.tensor(0), call.tensor(1))};
}

Tensors sub_in_place(FunctionCall& call) {
  call.require(!needs_grad(call.tensor(0)) && !(call.is_tensor(1) && needs_grad(call.tensor(1))), "a gradient");
  return {call.tensor(0)};
}

/// What has no gradient is written where it is.
Tensors written_in_place(FunctionCall& call) {
  call.require(!needs_grad(call.tensor(0)) && !(call.given(1) && call.is_tensor(1)), "a gradient or two tensors");
  return {call.tensor(0)};
}

/// Of positions, which have no gradient: transformers/models/llama4, the temperature of attention.
Tensors log1p_call(FunctionCall& call) {
  call.require(!needs_grad(call.tensor(0)) && is_floating(call.tensor(0).dtype()), "a gradient or whole numbers");
  const Op op(call.tensor(0), "aten::log1p");
  return {empty(call.run, call.result_sizes(), call.tensor(0).dtype())};
}

/// Of whole numbers, which have no gradient.
template <Unary operation>
Tensors of_whole_numbers(FunctionCall& call) {
  Tensor x = call.tensor(0);
  call.require(!is_floating(x.dtype()) && !call.is_tensor(1), "floating-point numbers or two tensors");
  return {operation(std::move(x))};
}

/// Of tensors of whole numbers, or of one and a number.
Tensors remainder_call(FunctionCall& call) {
  if (!call.is_tensor(1)) return of_whole_numbers<fmod>(call);
  call.require(!needs_grad(call.tensor(0)) && !needs_grad(call.tensor(1)), "a gradient");
  return {pow_tensor(call.tensor(0), call.tensor(1))};  // one result, of the type that both go into
}

/// Of fractions, too, where they have no gradient.
Tensors floor_divide_call(FunctionCall& call) {
  if (!call.is_tensor(1) && is_floating(call.tensor(0).dtype()) && !needs_grad(call.tensor(0)))
    return {floor_divide(call.tensor(0))};
  if (!call.is_tensor(1)) return of_whole_numbers<floor_divide>(call);
  call.require(!needs_grad(call.tensor(0)) && !needs_grad(call.tensor(1)), "a gradient");
  return {pow_tensor(call.tensor(0), call.tensor(1))};
}

/// Two numbers give a tensor on the host; rounded, it is the division of whole numbers.
Tensors div_call(FunctionCall& call) {
  if (!call.is_tensor(0) && !call.is_tensor(1)) return {empty(call.run, call.result_sizes(), call.result_dtype())};
  return call.given(2) ? floor_divide_call(call) : with_number(call, div, div_scalar);
}

/// Whole numbers less a fraction, or a fraction less whole numbers, are float32.
Tensors less_a_number(FunctionCall& call, const char* name, Unary operation) {
  Tensor x = call.tensor(0);
  if (is_floating(x.dtype()) || call.argument(1).kind != Argument::Kind::real) return {operation(std::move(x))};
  const Op op(x, name);
  return {empty_like(x, Dtype::f32)};
}

Tensors sub_call(FunctionCall& call) {
  if (call.is_tensor(1)) return {sub(call.tensor(0), call.tensor(1))};
  return less_a_number(call, "aten::sub", sub_number);
}

/// Two numbers, or one.
Tensors clamp_call(FunctionCall& call) {
  call.require(!call.is_tensor(1) && !call.is_tensor(2), "tensors as bounds");
  return {clamp_between(call.tensor(0), call.given(1) && call.given(2))};
}

Tensors negated_sub(FunctionCall& call) {
  if (call.is_tensor(1)) return {sub(call.tensor(1), call.tensor(0))};
  return less_a_number(call, "aten::rsub", rsub);
}

template <char... name>
Tensors rounded_call(FunctionCall& call) {
  static constexpr char kName[] = {'a', 't', 'e', 'n', ':', ':', name..., '\0'};
  return {rounded(kName, "RoundBackward0", call.tensor(0))};
}

Tensors pow_call(FunctionCall& call) {
  if (call.is_tensor(1)) return {pow_tensor(call.tensor(0), call.tensor(1))};
  const double exponent = call.real_or(1, 0);
  const bool is_whole = !is_floating(call.tensor(0).dtype());
  call.require(exponent != 0 && (!is_whole || exponent == 2 || exponent == 3), "such an exponent");
  return {exponent == 2 ? pow2(call.tensor(0)) : pow3(call.tensor(0))};  // of any exponent as of 3
}

/// number ** x: the number becomes a tensor beside the result.
Tensors power_of_number(FunctionCall& call) {
  call.require(!needs_grad(call.tensor(0)), "a gradient");
  const Op op(call.run, "aten::pow");
  const Tensor x = autocast_f32(call.tensor(0));
  Tensor y = empty_like(x, is_floating(x.dtype()) ? x.dtype() : Dtype::f32);
  const Tensor base = empty(call.run, Dims{}, y.dtype());
  return {std::move(y)};
}

/// number / x.  torch: _tensor.py, Tensor.__rdiv__
Tensors number_over(FunctionCall& call) {
  Tensor x = call.tensor(0);
  if (is_floating(x.dtype())) return {mul_scalar(reciprocal(std::move(x)))};
  const auto of_whole_number = [&] {
    const Op op(call.run, "aten::reciprocal");
    return empty_like(x, Dtype::f32);
  };
  return {mul_scalar(of_whole_number())};
}

Tensors compared(const FunctionCall& call, const char* name) {
  if (call.is_tensor(1)) return {logical(name, call.tensor(0), call.tensor(1))};
  return {compare(name, call.tensor(0))};
}

template <char... name>
Tensors compare_call(FunctionCall& call) {
  static constexpr char kName[] = {'a', 't', 'e', 'n', ':', ':', name..., '\0'};
  return compared(call, kName);
}

Tensors of_bits(const FunctionCall& call, const char* name) {
  if (call.is_tensor(1)) return {bitwise(name, call.tensor(0), call.tensor(1))};
  return {bitwise(name, call.tensor(0))};
}

/// A Python number becomes a tensor of the other one's type first.
Tensors where_call(FunctionCall& call) {
  if (!call.given(1)) return where_true(call.tensor(0), call.result_sizes()[0]);  // as many places as the program has
  const Op op(call.run, "aten::where");
  if (!call.is_tensor(1) && !call.is_tensor(2)) {
    const Tensor number = empty(call.run, Dims{}, call.result_dtype());
    const Tensor other = empty(call.run, Dims{}, call.result_dtype());
    return {where(call.tensor(0), number, other)};
  }
  const Tensor a = call.is_tensor(1) ? call.tensor(1) : empty(call.run, Dims{}, call.tensor(2).dtype());
  const Tensor b = call.is_tensor(2) ? call.tensor(2) : empty(call.run, Dims{}, a.dtype());
  return {where(call.tensor(0), a, b)};
}

/// Tensor.to(dtype), .to(device, dtype), .to(other): what is on the card stays there.
Tensors to_call(FunctionCall& call) {
  for (const std::size_t parameter : {std::size_t{1}, std::size_t{2}}) {
    const bool to_card = call.given(parameter) && call.argument(parameter).text == "device";
    if (to_card && call.tensor(0).is_on_host())
      return {to_device(call.run, call.tensor(0).sizes(), call.tensor(0).dtype())};
  }
  for (const std::size_t parameter : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    if (!call.given(parameter)) continue;
    const Argument::Kind kind = call.argument(parameter).kind;
    if (call.is_tensor(parameter)) return {to(call.tensor(0), call.tensor(parameter).dtype())};
    if (kind != Argument::Kind::dtype && kind != Argument::Kind::dtype_of) continue;
    if (call.given(6)) return {to_in_order(call.tensor(0), *call.dtype(parameter))};
    return {to(call.tensor(0), *call.dtype(parameter))};
  }
  return {call.tensor(0)};
}

template <Dtype dtype>
Tensors cast(FunctionCall& call) {
  return {to(call.tensor(0), dtype)};
}

/// Numbers by chance in the place of what is there, which nothing is kept of.
Tensors drawn_in_place(FunctionCall& call) {
  call.require(!needs_grad(call.tensor(0)), "a gradient");
  return {fill_(call.tensor(0))};
}

constexpr Function kElementwiseFunctions[] = {
    {"add __add__ __radd__", "input other alpha", [](FunctionCall& c) { return with_number(c, add, add_scalar); }},
    {"add_ __iadd__", "input other alpha", add_in_place},
    {"sub_ __isub__", "input other alpha", sub_in_place},
    {"diff", "input n dim prepend append", diff_call},
    {"sub subtract __sub__", "input other alpha", sub_call},
    {"rsub __rsub__", "input other alpha", negated_sub},
    {"abs absolute __abs__", "input", unary<abs>},
    {"sqrt", "input", unary<sqrt>},
    {"square", "input", unary<pow2>},
    {"log", "input", unary<log>},
    {"expm1", "input", unary<expm1>},
    {"log1p", "input", log1p_call},
    {"reciprocal", "input", unary<reciprocal>},
    {"floor", "input", rounded_call<'f', 'l', 'o', 'o', 'r'>},
    {"ceil", "input", rounded_call<'c', 'e', 'i', 'l'>},
    {"round", "input decimals", rounded_call<'r', 'o', 'u', 'n', 'd'>},
    {"sign", "input", rounded_call<'s', 'i', 'g', 'n'>},
    {"mul multiply __mul__ __rmul__", "input other", [](FunctionCall& c) { return with_number(c, mul, mul_scalar); }},
    {"mul_ __imul__", "input other", scaled_in_place<mul_>},
    {"div divide true_divide __truediv__", "input other rounding_mode", div_call},
    {"div_ __itruediv__", "input other", scaled_in_place<div_>},
    {"floor_divide __floordiv__", "input other", floor_divide_call},
    {"fmod remainder __mod__", "input other", remainder_call},
    {"clamp clip", "input min max", clamp_call},
    {"clamp_min clamp_max", "input min", unary<clamp_from>},
    {"zero_ fill_", "input value", unary<fill_>},
    {"uniform_", "input from to", drawn_in_place},
    {"copy_", "input src non_blocking", [](FunctionCall& c) { return Tensors{copy_(c.tensor(0), c.tensor(1))}; }},
    {"clamp_ clip_", "input min max", written_in_place},
    {"abs_ absolute_", "input", written_in_place},
    {"neg negative __neg__", "input", unary<neg>},
    {"pow __pow__", "input exponent", pow_call},
    {"__rpow__", "exponent input", power_of_number},
    {"__rtruediv__ __rdiv__", "input other", number_over},
    {"rsqrt", "input", unary<rsqrt>},
    {"cos", "input", unary<cos>},
    {"sin", "input", unary<sin>},
    {"tanh", "input", unary<tanh>},
    {"sigmoid", "input", unary<sigmoid>},
    {"exp", "input", unary<exp>},
    {"erf", "input", unary<erf>},
    {"erfinv", "input", unary<erfinv>},
    {"eq __eq__", "input other", compare_call<'e', 'q'>},
    {"ne __ne__", "input other", compare_call<'n', 'e'>},
    {"lt __lt__", "input other", compare_call<'l', 't'>},
    {"le __le__", "input other", compare_call<'l', 'e'>},
    {"gt __gt__ greater", "input other", compare_call<'g', 't'>},
    {"ge __ge__", "input other", compare_call<'g', 'e'>},
    {"__and__ bitwise_and and", "input other", [](FunctionCall& c) { return of_bits(c, "aten::bitwise_and"); }},
    {"__or__ bitwise_or or", "input other", [](FunctionCall& c) { return of_bits(c, "aten::bitwise_or"); }},
    {"__xor__ bitwise_xor xor", "input other", [](FunctionCall& c) { return of_bits(c, "aten::bitwise_xor"); }},
    {"__rshift__ bitwise_right_shift rshift", "input other",
     [](FunctionCall& c) { return of_bits(c, "aten::bitwise_right_shift"); }},
    {"__lshift__ bitwise_left_shift lshift", "input other",
     [](FunctionCall& c) { return of_bits(c, "aten::bitwise_left_shift"); }},
    {"logical_and", "input other", [](FunctionCall& c) { return compared(c, "aten::logical_and"); }},
    {"logical_or", "input other", [](FunctionCall& c) { return compared(c, "aten::logical_or"); }},
    {"__ior__ __iand__ logical_or_ logical_and_", "input other", [](FunctionCall& c) { return Tensors{c.tensor(0)}; }},
    {"__invert__ bitwise_not invert", "input",
     [](FunctionCall& c) { return Tensors{bitwise("aten::bitwise_not", c.tensor(0))}; }},
    {"logical_not", "input", [](FunctionCall& c) { return Tensors{compare("aten::logical_not", c.tensor(0))}; }},
    {"maximum minimum", "input other", [](FunctionCall& c) { return Tensors{maximum(c.tensor(0), c.tensor(1))}; }},
    {"where", "condition input other", where_call},
    {"masked_fill", "input mask value", [](FunctionCall& c) { return Tensors{masked_fill(c.tensor(0), c.tensor(1))}; }},
    {"masked_fill_", "input mask value",
     [](FunctionCall& c) { return Tensors{masked_fill_(c.tensor(0), c.tensor(1))}; }},
    {"to", "input dtype device other non_blocking copy memory_format", to_call},
    {"type type_as", "input dtype", to_call},
    {"float", "input", cast<Dtype::f32>},
    {"half", "input", cast<Dtype::f16>},
    {"bfloat16", "input", cast<Dtype::bf16>},
    {"double", "input", cast<Dtype::f64>},
    {"long", "input", cast<Dtype::int64>},
    {"int", "input", cast<Dtype::int32>},
    {"bool", "input", cast<Dtype::boolean>},
};

}  // namespace

std::span<const Function> elementwise_functions() { return kElementwiseFunctions; }

}  // namespace tidemark
