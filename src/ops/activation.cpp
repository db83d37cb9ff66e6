// Activations.  torch: aten/src/ATen/native/cuda/Activation*.cu, SoftMax.cu, Dropout.cu
#include "ops/ops.h"

namespace tidemark {
namespace {

/// Keeps its input; one result each way.
Tensor keeps_input(const char* name, const char* backward_name, Tensor x) {
  const Op op(x, name);
  Tensor y = empty_like(x);
  Tensors saved{x};
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
  Tensor y = empty_like(x);
  Tensors saved{alias(y)};
  return record(std::move(y), {std::move(x)},
                {.name = "ReluBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   return {empty_like(call.gradient())};
                 }});
}

/// Over the last dimension; `result` is softmax's dtype argument.  A contiguous copy of the input comes first.
Tensor softmax(Tensor x, Dtype result) {
  const Op op(x, "aten::softmax");
  x = autocast_f32(std::move(x));
  x = to(std::move(x), result);
  Tensor y = empty(x.run(), x.sizes(), x.dtype());
  Tensors saved{alias(y)};
  return record(std::move(y), {std::move(x)},
                {.name = "SoftmaxBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   return {empty_like(call.gradient())};
                 }});
}

/// Keeps its mask.  torch: Dropout.cpp: no kernel for p = 0 or in evaluation.
Tensor dropout(Tensor x, double probability) {
  if (probability == 0) return x;
  TM_CHECK(probability < 1, "dropout of everything");
  const Op op(x, "aten::dropout");
  Tensor mask = empty_like(x, Dtype::boolean);
  Tensor y = empty_like(x);
  Tensors saved{std::move(mask)};
  return record(std::move(y), {std::move(x)},
                {.name = "NativeDropoutBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   return {empty_like(call.gradient())};
                 }});
}

}  // namespace tidemark
