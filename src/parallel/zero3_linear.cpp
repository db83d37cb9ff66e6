#include "parallel/zero3_linear.h"

#include "tensor/arithmetic.h"

namespace tidemark {
namespace {

/// A view: what is multiplied is read as it lies.
Tensor turned(const Tensor& matrix) {
  Layout layout = matrix.layout();
  layout.sizes.swap(0, 1);
  layout.strides.swap(0, 1);
  Tensor view = view_of(matrix, layout);
  view.impl().requires_grad = matrix.requires_grad();  // decides how a product is folded
  return view;
}

Tensor rows(const Tensor& x) { return reshape(x, {-1, x.size(-1)}); }

/// Over all but the last dimension.
Tensor sum_of_rows(const Tensor& gradient) {
  const Op op(gradient, "aten::sum");
  Dims reduced = gradient.sizes();
  for (int d = 0; d < reduced.count(); ++d) reduced[d] = d + 1 < reduced.count() ? 1 : 0;
  return plain_sum(gradient, reduced, false, gradient.dtype());
}

/// LinearFunctionForZeroStage3.backward
Tensors linear_backward(Backward& call) {
  const Tensor &grad_output = call.gradient(), &input = call.saved[0], &weight = call.saved[1];
  Tensor grad_input, grad_weight, grad_bias;
  if (call.needs(0)) grad_input = matmul(grad_output, weight);
  if (call.needs(1)) {
    if (grad_output.dims() > 2) {
      const Tensor across = turned(rows(grad_output)), down = rows(input);
      grad_weight = matmul(across, down);
    } else {
      grad_weight = matmul(turned(grad_output), input);
    }
  }
  if (call.saved[2] && call.needs(2)) grad_bias = sum_of_rows(grad_output);
  return {grad_input, grad_weight, grad_bias};
}

}  // namespace

Tensor zero3_linear(Tensor x, Tensor weight, Tensor bias) {
  Run& run = x.run();
  const Tensor arguments[] = {x, weight, bias};
  Tensor output;
  {
    const Op op(run, "LinearFunctionForZeroStage3");
    const NoGrad no_grad(run);
    output = x.dims() == 2 && bias ? addmm(bias, x, turned(weight)) : matmul(x, turned(weight));
  }
  const Op saving(run, "LinearFunctionForZeroStage3");  // a Function saves when it has run
  Tensors saved{x, weight, bias};
  return record(
      std::move(output), {std::move(x), std::move(weight), std::move(bias)},
      {.name = "LinearFunctionForZeroStage3Backward", .saved = std::move(saved), .backward = linear_backward});
}

}  // namespace tidemark
