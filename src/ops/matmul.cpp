// Products of matrices.  torch: aten/src/ATen/native/{Linear,LinearAlgebra}.cpp, cuda/Blas.cpp
#include <algorithm>

#include "ops/ops.h"
#include "tensor/kernel.h"
#include "tensor/mismatch.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

/// Whether cuBLAS can read the last two dimensions as they lie, transposed or not.  torch: native/cuda/Blas.cpp,
/// prepare_matrix_for_cublas and prepare_batch_matrix_for_cublas
bool is_readable(const Layout& x) {
  const std::int64_t rows = x.sizes[-2], columns = x.sizes[-1], down = x.strides[-2], along = x.strides[-1];
  const auto at_least = [](std::int64_t stride, std::int64_t size) { return stride >= (size > 1 ? size : 1); };
  return (along == 1 && at_least(down, columns)) || (down == 1 && at_least(along, rows));
}

/// An operand that cuBLAS cannot read is copied for the time of the product.
Tensor readable(const Tensor& x) { return is_readable(x.layout()) ? Tensor() : empty(x.run(), x.sizes(), x.dtype()); }

/// cublasLtMatmul with the bias as its epilogue takes a workspace of its own.  torch: native/cuda/Blas.cpp,
/// isInputCompliesAddmmCudaLt; cuda/CUDABlas.cpp, gemm_and_bias
bool has_fused_bias(const Tensor& bias, const Tensor& a, const Tensor& b) {
  const bool row = bias.dims() == 1 && bias.size(0) == b.size(1);
  const bool whole = bias.dims() == 2 && bias.size(0) == a.size(0) && bias.size(1) == b.size(1) &&
                     size_of(bias.dtype()) == 2 && bias.run().torch().fuses_whole_bias;
  return (row || whole) && bias.is_contiguous() && b.size(0) > 1 && b.size(1) > 1;
}

Ref<Storage> new_workspace(Run& run, std::int64_t bytes) {
  const Setting<Category> category(run.category, Category::workspace);
  return run.allocate(bytes);
}

/// One that a thread has, of those of the program's and of autograd's.
void keep_workspace(Run& run, Ref<Storage> (&workspaces)[2], std::int64_t bytes) {
  Ref<Storage>& workspace = workspaces[run.in_backward ? 1 : 0];
  if (workspace || (run.kernel && run.kernel->is_handed_out())) return;
  const Once once(run);
  workspace = new_workspace(run, bytes);
}

/// For the time of the product, or none of its own.  torch: CublasHandlePool.cpp, parseCUDABlasLtWorkspaceSize
Ref<Storage> fused_bias_workspace(Run& run) {
  constexpr std::int64_t kBytes = 1 << 20;
  if (run.torch().blas_workspaces == BlasWorkspaces::eager) return new_workspace(run, kBytes);
  const Ref<Storage> none = matmul_workspace(run);  // of the handle, which is cuBLAS's
  if (run.torch().blas_workspaces == BlasWorkspaces::kept) keep_workspace(run, run.fused_bias_workspaces, kBytes);
  return none;
}

void count_product(const Tensor& y, std::int64_t terms) {
  if (Work* work = y.run().counted())
    work->add_product(y.dtype(),
                      static_cast<double>(y.elements()) / static_cast<double>(std::max<std::int64_t>(y.size(-1), 1)),
                      static_cast<double>(y.size(-1)), static_cast<double>(terms), y.run().computes_backward());
}

/// Row-major, as the kernel writes it.
Tensor product(const char* name, const Tensor& a, const Tensor& b, bool fused_bias = false) {
  Kernel kernel(a.run(), name);
  Dims sizes = a.sizes();
  sizes[-1] = b.size(-1);
  Tensor y = empty(a.run(), sizes, a.dtype());
  count_product(y, a.size(-1));
  const Tensor copy_a = readable(a), copy_b = readable(b);
  const Ref<Storage> workspace = fused_bias ? fused_bias_workspace(a.run()) : matmul_workspace(a.run());
  kernel.gives({&y});
  return y;
}

Tensor product_by_elements(const Tensor& a, const Tensor& b) {
  Kernel kernel(a.run(), "bmm");
  Tensor y = empty(a.run(), {a.size(0), a.size(1), b.size(2)}, a.dtype());
  count_product(y, a.size(-1));
  kernel.gives({&y});
  return y;
}

bool is_column_major(const Tensor& x) { return x.layout().strides[0] == 1 && x.layout().strides[1] == x.size(0); }

/// torch: mm_mat1_grad, mm_mat2_grad: in the order of the operand itself.
Tensor mm_mat1_grad(const Tensor& gradient, const Tensor& mat2, bool column_major) {
  if (column_major) return transpose(mm(mat2, transpose(gradient, 0, 1)), 0, 1);
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
  Tensor first = call.needs(0) ? mm_mat1_grad(call.gradient(), call.saved[1], call.facts.a == 1) : Tensor();
  return {std::move(first), std::move(second)};
}

/// mat1, mat2, then the bias: its gradient is summed over the rows where gradients are validated.
Tensors addmm_backward(Backward& call) {
  Tensor first = call.needs(1) ? mm_mat1_grad(call.gradient(), call.saved[1], call.facts.a == 1) : Tensor();
  Tensor second = call.needs(2) ? mm_mat2_grad(call.gradient(), call.saved[0], call.facts.b == 1) : Tensor();
  return {call.needs(0) ? call.gradient() : Tensor(), std::move(first), std::move(second)};
}

/// The gradients of the product are scaled when it was, each by an operation of its own.  torch: maybe_multiply
Tensors baddbmm_backward(Backward& call) {
  const auto scaled = [&](Tensor gradient) {
    return call.facts.a != 0 ? mul_scalar(std::move(gradient)) : std::move(gradient);
  };
  Tensor first = call.needs(1) ? scaled(bmm(call.gradient(), transpose(call.saved[1], 1, 2))) : Tensor();
  Tensor second = call.needs(2) ? scaled(bmm(transpose(call.saved[0], 1, 2), call.gradient())) : Tensor();
  return {call.needs(0) ? call.gradient() : Tensor(), std::move(first), std::move(second)};
}

Tensor t(Tensor x) {
  Layout layout = x.layout();
  layout.sizes.swap(0, 1);
  layout.strides.swap(0, 1);
  Tensor y = view_of(x, layout);
  return record(std::move(y), {std::move(x)},
                {.name = "TBackward0", .backward = [](Backward& call) -> Tensors { return {t(call.gradient())}; }});
}

/// Whether a product of more than two dimensions with a matrix runs over folded rows: always when the matrix needs a
/// gradient, else when the rows fold without a copy.  torch: native/LinearAlgebra.cpp, should_fold
bool should_fold(const Tensor& a, const Tensor& b) {
  // A view that was made without gradients needs one when its base does.  torch: autograd/variable.h,
  // DifferentiableViewMeta::requires_grad (2.11.0)
  if (b.requires_grad() || b.impl().base.requires_grad()) return true;
  for (int d = 0; d + 2 < a.dims(); ++d)
    if (a.layout().strides[d] != a.layout().strides[d + 1] * a.size(d + 1)) return false;
  return true;
}

Tensor folded(Tensor a, Tensor b) {
  Dims sizes = a.sizes();
  sizes[-1] = b.size(-1);
  Tensor rows = reshape(std::move(a), {-1, b.size(0)});
  return sole_view(view(mm(std::move(rows), std::move(b)), sizes));
}

}  // namespace

/// torch: CublasHandlePool.cpp, parseChosenWorkspaceSize
Ref<Storage> matmul_workspace(Run& run) {
  const std::int64_t major = run.card().compute_capability_major;
  const bool large = major == 9 || (run.torch().blackwell_has_large_blas_workspaces && (major == 10 || major == 12));
  const std::int64_t bytes = large ? 32 << 20 : (8 << 20) + (128 << 10);
  if (run.torch().blas_workspaces == BlasWorkspaces::eager) return new_workspace(run, bytes);
  keep_workspace(run, run.matmul_workspaces, bytes);
  return {};
}

Tensor mm(Tensor a, Tensor b) {
  const Op op(a, "aten::mm");
  const Tensor arguments[] = {a, b};
  b = autocast_low(std::move(b));
  a = autocast_low(std::move(a));
  Tensors saved{needs_grad(b) ? a : Tensor(), needs_grad(a) ? b : Tensor()};
  Tensor y = product("mm", a, b);
  const Facts facts = layouts_of(a, b);
  return record(std::move(y), {std::move(a), std::move(b)},
                {.name = "MmBackward0", .saved = std::move(saved), .facts = facts, .backward = mm_backward});
}

/// bias + a b.
Tensor addmm(Tensor bias, Tensor a, Tensor b) {
  const Op op(a, "aten::addmm");
  const Tensor arguments[] = {bias, a, b};
  b = autocast_low(std::move(b));
  a = autocast_low(std::move(a));
  bias = autocast_low(std::move(bias));
  Tensors saved{needs_grad(b) ? a : Tensor(), needs_grad(a) ? b : Tensor()};
  Tensor y = product("addmm", a, b, has_fused_bias(bias, a, b));
  const Facts facts = layouts_of(a, b);
  return record(std::move(y), {std::move(bias), std::move(a), std::move(b)},
                {.name = "AddmmBackward0", .saved = std::move(saved), .facts = facts, .backward = addmm_backward});
}

/// torch: at::native::linear: addmm over the folded rows; a matmul and an addition in place when the input is not
/// contiguous (_flatten_nd_linear would copy it).
Tensor linear(Tensor x, Tensor weight, Tensor bias) {
  if (const auto other = x.run().linear) return other(std::move(x), std::move(weight), std::move(bias));
  const Op op(x, "aten::linear");
  const Tensor arguments[] = {x, weight, bias};
  check_match(x.size(-1) == weight.size(1), "[linear] the input is as wide as the weight takes");
  bias = autocast_low(std::move(bias));
  weight = autocast_low(std::move(weight));
  x = autocast_low(std::move(x));
  const Tensor cast[] = {x, weight, bias};
  if (bias && (x.dims() == 2 || x.is_contiguous())) {
    Dims sizes = x.sizes();
    sizes[-1] = weight.size(0);
    if (x.dims() > 2)
      x = view(std::move(x), {-1, weight.size(1)});  // before the weight: backward takes the weight first
    Tensor y = addmm(std::move(bias), std::move(x), t(std::move(weight)));
    if (sizes.count() == 2) return y;
    y = view(std::move(y), sizes);
    return y.run().torch().linear_gives_no_view ? sole_view(std::move(y)) : y;
  }
  Tensor y = matmul(std::move(x), t(std::move(weight)));
  if (!bias) return y;
  return has_dispatch_mode(y.run()) ? add(y, bias) : add_(std::move(y), std::move(bias));
}

Tensor bmm(Tensor a, Tensor b) {
  const Op op(a, "aten::bmm");
  const Tensor arguments[] = {a, b};
  b = autocast_low(std::move(b));
  a = autocast_low(std::move(a));
  Tensors saved{needs_grad(b) ? a : Tensor(), needs_grad(a) ? b : Tensor()};
  const bool by_elements = a.size(2) == 1 && a.run().torch().multiplies_single_elements;
  Tensor y = by_elements ? product_by_elements(a, b) : product("bmm", a, b);
  return record(std::move(y), {std::move(a), std::move(b)},
                {.name = "BmmBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   Tensor second = call.needs(1) ? bmm(transpose(call.saved[0], 1, 2), call.gradient()) : Tensor();
                   return {call.needs(0) ? bmm(call.gradient(), transpose(call.saved[1], 1, 2)) : Tensor(), second};
                 }});
}

Tensor baddbmm(Tensor input, Tensor a, Tensor b, double alpha) {
  const Op op(a, "aten::baddbmm");
  const Tensor arguments[] = {input, a, b};
  b = autocast_low(std::move(b));
  a = autocast_low(std::move(a));
  input = autocast_low(std::move(input));
  Tensors saved{needs_grad(b) ? a : Tensor(), needs_grad(a) ? b : Tensor()};
  Tensor y = product("baddbmm", a, b);
  const Facts facts{.a = alpha != 1 ? 1 : 0};
  return record(std::move(y), {std::move(input), std::move(a), std::move(b)},
                {.name = "BaddbmmBackward0", .saved = std::move(saved), .facts = facts, .backward = baddbmm_backward});
}

/// As bmm over the folded, broadcast batch.  torch: at::native::_matmul_impl
Tensor matmul(Tensor a, Tensor b) {
  const Op op(a, "aten::matmul");
  const Tensor arguments[] = {a, b};
  b = autocast_low(std::move(b));
  a = autocast_low(std::move(a));
  const Tensor cast[] = {a, b};  // alive until the call returns, though their copies take their place
  if (a.dims() == 2 && b.dims() == 2) return mm(std::move(a), std::move(b));
  if (b.dims() == 2 && should_fold(a, b)) return folded(std::move(a), std::move(b));
  if (a.dims() == 2 && b.dims() > 2 && a.requires_grad()) {  // should_fold: the other way round, which copies
    Tensor turned = transpose(b, -2, -1), other = t(a);
    return contiguous(transpose(folded(std::move(turned), std::move(other)), -2, -1));
  }
  const Dims flat_a{-1, a.size(-2), a.size(-1)}, flat_b{-1, b.size(-2), b.size(-1)};
  Dims batch_a = a.sizes(), batch_b = b.sizes();
  batch_a[-1] = batch_a[-2] = batch_b[-1] = batch_b[-2] = 1;
  Dims all_a = broadcast(batch_a, batch_b), all_b = all_a, sizes = all_a;
  sizes[-2] = all_a[-2] = a.size(-2);
  all_a[-1] = a.size(-1);
  all_b[-2] = b.size(-2);
  sizes[-1] = all_b[-1] = b.size(-1);
  a = expand(std::move(a), all_a);
  a = reshape(std::move(a), flat_a);
  b = expand(std::move(b), all_b);
  b = reshape(std::move(b), flat_b);
  return sole_view(view(bmm(std::move(a), std::move(b)), sizes));
}

Tensor matmul(Pair operands) { return matmul(std::move(operands.a), std::move(operands.b)); }

}  // namespace tidemark
