// torch: aten/src/ATen/native/BatchLinearAlgebra.cpp, linalg_solve_triangular_out; torch/csrc/autograd/
// FunctionsManual.cpp, linalg_solve_triangular_backward (2.11.0)
#include "ops/triangular.h"

#include "ops/ops.h"

namespace tidemark {
namespace {

/// Lies by columns.  Of many matrices, or small ones, cuBLAS takes the addresses.  torch: cuda/linalg/
/// BatchLinearAlgebra.cpp, triangular_solve_kernel
Tensor solved(const Tensor& a, const Tensor& b) {
  const Op op(b, "aten::linalg_solve_triangular");
  constexpr std::int64_t kMostOneByOne = 8, kLeastOneByOne = 64;
  Run& run = b.run();
  Dims turned = b.sizes();
  turned.swap(-1, -2);
  Tensor x = sole_view(transpose(empty(run, turned, b.dtype()), -2, -1));
  const std::int64_t n = a.size(-1), matrices = a.elements() / (n * n);
  if (matrices > kMostOneByOne || (matrices > 1 && n < kLeastOneByOne)) {
    const Setting<Category> category(run.category, Category::workspace);
    const Tensor of_a = empty(run, Dims{matrices}, Dtype::int64), of_b = empty(run, Dims{matrices}, Dtype::int64);
    matmul_workspace(run);
  } else {
    matmul_workspace(run);
  }
  return x;
}

}  // namespace

/// Keeps A and X.
Tensor solve_triangular(Tensor a, Tensor b) {
  Tensor x = solved(a, b);
  Tensors saved{a, alias(x)};
  return record(
      std::move(x), {std::move(a), std::move(b)},
      {.name = "LinalgSolveTriangularBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
         Tensor of_b = solved(call.saved[0], call.gradient());
         Tensor of_a;
         if (call.needs(0)) {
           const Tensor minus = neg(matmul(of_b, transpose(call.saved[1], -2, -1)));
           of_a = empty(call.run, minus.sizes(), minus.dtype());  // its triangle
         }
         return {of_a, call.needs(1) ? of_b : Tensor()};
       }});
}

}  // namespace tidemark
