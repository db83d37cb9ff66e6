// torch: aten/src/ATen/native/ComplexHelper.h, TensorFactories.cpp; tools/autograd/derivatives.yaml (2.11.0)
#include "ops/complex_numbers.h"

#include "ops/ops.h"
#include "tensor/mismatch.h"

namespace tidemark {
namespace {

Tensor shown_as(const Tensor& x, const Layout& layout, Dtype dtype) {
  Tensor y = view_of(x, layout);
  y.impl().dtype = dtype;
  return y;
}

}  // namespace

Tensor view_as_complex(Tensor x) {
  check_match(x.dtype() == Dtype::f32 && x.size(-1) == 2, "other than pairs of float32");
  Layout layout = x.layout();
  layout.sizes.erase(layout.sizes.count() - 1);
  layout.strides.erase(layout.strides.count() - 1);
  for (int d = 0; d < layout.strides.count(); ++d) layout.strides[d] /= 2;
  Tensor y = shown_as(x, layout, Dtype::complex64);
  return record(std::move(y), {std::move(x)},
                {.name = "ViewAsComplexBackward0",
                 .backward = [](Backward& call) -> Tensors { return {view_as_real(contiguous(call.gradient()))}; }});
}

Tensor view_as_real(Tensor x) {
  check_match(x.dtype() == Dtype::complex64, "other than complex64");
  Layout layout = x.layout();
  for (int d = 0; d < layout.strides.count(); ++d) layout.strides[d] *= 2;
  layout.sizes.push_back(2);
  layout.strides.push_back(1);
  Tensor y = shown_as(x, layout, Dtype::f32);
  return record(std::move(y), {std::move(x)},
                {.name = "ViewAsRealBackward0",
                 .backward = [](Backward& call) -> Tensors { return {view_as_complex(contiguous(call.gradient()))}; }});
}

Tensor polar(Tensor lengths, Tensor angles) {
  check_match(!needs_grad(lengths) && !needs_grad(angles), "a gradient");
  check_match(lengths.dtype() == Dtype::f32 && angles.dtype() == Dtype::f32, "other than float32");
  check_match(lengths.sizes() == angles.sizes(), "other sizes");
  const Op op(angles, "aten::polar");
  return empty_like(lengths, Dtype::complex64);
}

}  // namespace tidemark
