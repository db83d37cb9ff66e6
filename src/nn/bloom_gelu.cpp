#include "nn/bloom_gelu.h"

namespace tidemark {
namespace {

/// number * x * (1 + number * x * x)
Tensor scaled_cubic(const Tensor& x) {
  Tensor scaled = mul_scalar(x);
  Tensor square = mul(mul_scalar(x), x);
  square = add_scalar(std::move(square));
  return mul(std::move(scaled), std::move(square));
}

/// bloom_gelu_forward
Tensor bloom_gelu_forward(const Tensor& x) {
  Tensor half = mul_scalar(x);
  Tensor other = tanh(scaled_cubic(x));
  other = add_scalar(std::move(other));
  return mul(std::move(half), std::move(other));
}

/// bloom_gelu_back
Tensor bloom_gelu_back(const Tensor& g, const Tensor& x) {
  const Tensor tanh_out = tanh(scaled_cubic(x));
  Tensor slope = mul_scalar(x);
  Tensor rest = add_scalar(mul(tanh_out, tanh_out));  // 1 - tanh_out * tanh_out
  Tensor square = mul(mul_scalar(x), x);
  square = add_scalar(std::move(square));
  rest = mul(std::move(rest), std::move(square));
  slope = mul(std::move(slope), std::move(rest));
  Tensor half = mul_scalar(add_scalar(tanh_out));
  const Tensor ff = add(std::move(slope), std::move(half));
  return mul(ff, g);
}

}  // namespace

/// GeLUFunction.apply
Tensor bloom_gelu(Module&, Tensor input) {
  const Tensor x = std::move(input);
  Tensor output;
  {
    const NoGrad no_grad(x.run());
    output = bloom_gelu_forward(x);
  }
  return record(std::move(output), {x},
                {.name = "GeLUFunctionBackward", .saved = {x}, .backward = [](Backward& call) -> Tensors {
                   return {bloom_gelu_back(call.gradient(), call.saved[0])};
                 }});
}

}  // namespace tidemark
