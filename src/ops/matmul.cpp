// Products of matrices.  torch: aten/src/ATen/native/{Linear,LinearAlgebra}.cpp, cuda/Blas.cpp
#include "ops/ops.h"

namespace tidemark {
namespace {

/// The workspace that cuBLAS gets with a thread's first product.  torch: CUDABlas, getChosenWorkspaceSize
void take_workspace(Run& run) {
  Ref<Storage>& workspace = run.matmul_workspaces[run.in_backward ? 1 : 0];
  if (workspace) return;
  const Setting<Category> category(run.category, Category::workspace);
  const bool hopper = run.card().compute_capability_major >= 9;
  workspace = run.allocate(hopper ? 32 << 20 : (8 << 20) + (128 << 10));
}

/// Row-major, as the kernel writes it.
Tensor product(const Tensor& a, const Tensor& b) {
  Dims sizes = a.sizes();
  sizes[-1] = b.size(-1);
  Tensor y = empty(a.run(), sizes, a.dtype());
  take_workspace(a.run());
  return y;
}

bool is_column_major(const Tensor& x) { return x.layout().strides[0] == 1 && x.layout().strides[1] == x.size(0); }

/// torch: mm_mat1_grad, mm_mat2_grad: in the order of the operand itself.
Tensor mm_mat1_grad(const Tensor& gradient, const Tensor& mat1, const Tensor& mat2) {
  if (is_column_major(mat1)) return transpose(mm(mat2, transpose(gradient, 0, 1)), 0, 1);
  return mm(gradient, transpose(mat2, 0, 1));
}

Tensor mm_mat2_grad(const Tensor& gradient, const Tensor& mat1, bool column_major) {
  if (column_major) return transpose(mm(transpose(gradient, 0, 1), mat1), 0, 1);
  return mm(transpose(mat1, 0, 1), gradient);
}

/// What a product keeps of the layouts: facts.a and b are 1 for a column-major first and second operand.
Facts layouts_of(const Tensor& a, const Tensor& b) {
  return {.sizes = a.sizes(), .a = is_column_major(a) ? 1 : 0, .b = is_column_major(b) ? 1 : 0};
}

Tensors mm_backward(Backward& call) {
  Tensor second = call.needs(1) ? mm_mat2_grad(call.gradient(), call.saved[0], call.facts.b == 1) : Tensor();
  Tensor first;
  if (call.needs(0)) {
    first = call.facts.a == 1 ? transpose(mm(call.saved[1], transpose(call.gradient(), 0, 1)), 0, 1)
                              : mm(call.gradient(), transpose(call.saved[1], 0, 1));
  }
  return {std::move(first), std::move(second)};
}

Tensor t(Tensor x) {
  Layout layout = x.layout();
  layout.sizes.swap(0, 1);
  layout.strides.swap(0, 1);
  Tensor y = view_of(x, layout);
  return record(std::move(y), {std::move(x)}, {.name = "TBackward0", .backward = [](Backward& call) -> Tensors {
                                                 return {t(call.gradient())};
                                               }});
}

Tensor folded(Tensor a, Tensor b) {
  Dims sizes = a.sizes();
  sizes[-1] = b.size(-1);
  Tensor rows = reshape(std::move(a), {-1, b.size(0)});
  return view(mm(std::move(rows), std::move(b)), sizes);
}

}  // namespace

Tensor mm(Tensor a, Tensor b) {
  const Op op(a, "aten::mm");
  Tensor y = product(a, b);
  const Facts facts = layouts_of(a, b);
  Tensors saved{needs_grad(b) ? a : Tensor(), needs_grad(a) ? b : Tensor()};
  return record(std::move(y), {std::move(a), std::move(b)},
                {.name = "MmBackward0", .saved = std::move(saved), .facts = facts, .backward = mm_backward});
}

Tensor linear(Tensor x, Tensor weight, Tensor bias) {
  TM_CHECK(!bias, "not built yet");
  const Op op(x, "aten::linear");
  x = autocast_low(std::move(x));
  weight = autocast_low(std::move(weight));
  Tensor transposed = t(std::move(weight));
  return folded(std::move(x), std::move(transposed));
}

Tensor bmm(Tensor a, Tensor b) {
  const Op op(a, "aten::bmm");
  Tensor y = product(a, b);
  Tensors saved{needs_grad(b) ? a : Tensor(), needs_grad(a) ? b : Tensor()};
  return record(std::move(y), {std::move(a), std::move(b)},
                {.name = "BmmBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   Tensor second = call.needs(1) ? bmm(transpose(call.saved[0], 1, 2), call.gradient()) : Tensor();
                   return {call.needs(0) ? bmm(call.gradient(), transpose(call.saved[1], 1, 2)) : Tensor(), second};
                 }});
}

/// Of equal batches: as bmm over the folded batch.  torch: at::native::_matmul_impl
Tensor matmul(Tensor a, Tensor b) {
  const Op op(a, "aten::matmul");
  a = autocast_low(std::move(a));
  b = autocast_low(std::move(b));
  const Tensor arguments[] = {a, b};  // alive until the call returns, though their copies take their place
  if (a.dims() == 2 && b.dims() == 2) return mm(std::move(a), std::move(b));
  if (b.dims() == 2) return folded(std::move(a), std::move(b));
  Dims sizes = a.sizes();
  sizes[-1] = b.size(-1);
  const Dims flat_a{-1, a.size(-2), a.size(-1)}, flat_b{-1, b.size(-2), b.size(-1)};
  const Dims all_a = a.sizes(), all_b = b.sizes();
  a = expand(std::move(a), all_a);
  a = reshape(std::move(a), flat_a);
  b = expand(std::move(b), all_b);
  b = reshape(std::move(b), flat_b);
  return view(bmm(std::move(a), std::move(b)), sizes);
}

Tensor matmul(Pair operands) { return matmul(std::move(operands.a), std::move(operands.b)); }

}  // namespace tidemark
