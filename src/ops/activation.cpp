// Activations.  torch: aten/src/ATen/native/cuda/Activation*.cu, SoftMax.cu, Dropout.cu
#include <string_view>

#include "ops/ops.h"
#include "tensor/kernel.h"

namespace tidemark {
namespace {

constexpr std::size_t kNamespace = std::string_view("aten::").size();

/// Keeps its input; one result each way.
Tensor keeps_input(const char* name, const char* backward_name, Tensor x) {
  const Op op(x, name);
  Kernel kernel(x.run(), name + kNamespace);
  Tensors saved{x};
  Tensor y = empty_like(x);
  kernel.gives({&y});
  return record(std::move(y), {std::move(x)},
                {.name = backward_name, .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   const Layout* operands[] = {&call.gradient().layout(), &call.saved[0].layout()};
                   return {empty(call.run, elementwise_layout(operands), call.gradient().dtype())};
                 }});
}

}  // namespace

Tensor silu(Tensor x) { return keeps_input("aten::silu", "SiluBackward0", std::move(x)); }

Tensor gelu(Tensor x) { return keeps_input("aten::gelu", "GeluBackward0", std::move(x)); }

/// Keeps its result.
Tensor relu(Tensor x) {
  const Op op(x, "aten::relu");
  Kernel kernel(x.run(), "relu");
  Tensor y = empty_like(x);
  kernel.gives({&y});
  Tensors saved{alias(y)};
  return record(std::move(y), {std::move(x)},
                {.name = "ReluBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   const Layout* operands[] = {&call.saved[0].layout(), &call.gradient().layout()};
                   return {empty(call.run, elementwise_layout(operands), call.gradient().dtype())};
                 }});
}

/// Over the last dimension; `result` is softmax's dtype argument.  Half precision becomes float32 inside the kernel,
/// bfloat16 by a conversion before it.  The gradient is found by way of grad * y.
Tensor softmax(Tensor x, std::optional<Dtype> result) {
  const Op op(x, "aten::softmax");
  const Tensor argument = x;
  if (!result && x.run().autocast.enabled && is_floating(x.dtype())) result = Dtype::f32;  // fp32_set_opt_dtype
  const Dtype dtype = result.value_or(x.dtype());
  if (!(x.dtype() == Dtype::f16 && dtype == Dtype::f32)) x = to(std::move(x), dtype);
  Kernel kernel(x.run(), "_softmax");
  Tensor y = empty(x.run(), x.sizes(), dtype);
  if (!x.is_contiguous()) {
    const Tensor copy = empty(x.run(), x.sizes(), x.dtype());
  }
  kernel.gives({&y});
  Tensors saved{alias(y)};
  const Facts facts{.dtype = x.dtype()};
  return record(std::move(y), {std::move(x)},
                {.name = "SoftmaxBackward0",
                 .saved = std::move(saved),
                 .facts = facts,
                 .backward = [](Backward& call) -> Tensors {
                   Tensor gradient = empty(call.run, call.gradient().sizes(), call.facts.dtype);
                   const Tensor product = mul(call.gradient(), call.saved[0]);
                   const Tensor copy = contiguous(product);
                   return {std::move(gradient)};
                 }});
}

/// Keeps its input; the buffer of the other devices is empty here.
Tensor log_sigmoid(Tensor x) { return keeps_input("aten::log_sigmoid", "LogSigmoidBackward0", std::move(x)); }

/// Half of a dimension, times the sigmoid of the other half.  Keeps its input, whose gradient is in order.
/// torch: GatedLinearUnit.cpp, glu_backward_cuda_out
Tensor glu(Tensor x, int d) {
  const Op op(x, "aten::glu");
  Kernel kernel(x.run(), "glu");
  Tensors saved{x};
  Layout half = x.layout();
  half.sizes[d] /= 2;
  const Layout* operands[] = {&half, &half};
  Tensor y = empty(x.run(), elementwise_layout(operands), x.dtype());
  kernel.gives({&y});
  return record(std::move(y), {std::move(x)},
                {.name = "GluBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   return {empty(call.run, call.saved[0].sizes(), call.gradient().dtype())};
                 }});
}

/// Keeps its mask.  torch: Dropout.cpp: no kernel for p = 0 or in evaluation.
Tensor dropout(Tensor x, double probability) {
  if (probability == 0) return x;
  const Op op(x, "aten::dropout");
  Kernel kernel(x.run(), "native_dropout");
  Tensor mask = empty_like(x, Dtype::boolean);
  Tensor y = empty_like(x);
  kernel.gives({&y, &mask});
  Tensors saved{std::move(mask)};
  return record(
      std::move(y), {std::move(x)},
      {.name = "NativeDropoutBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
         return {empty(call.run, call.gradient().sizes(), call.gradient().dtype())};
       }});
}

}  // namespace tidemark
