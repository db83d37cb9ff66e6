// Products of groups of rows with a matrix for each group.  torch 2.11.0: aten/src/ATen/native/{GroupedMMUtils.h,
// cuda/GroupedBlas.cpp,cuda/GroupMM.cu}, torch/csrc/autograd/FunctionsManual.cpp
#include "base/error.h"
#include "ops/ops.h"
#include "tensor/kernel.h"

namespace tidemark {
namespace {

/// The widths that kernels read have to be whole 16 bytes.  torch: check_valid_strides_and_return_transposed
void check_width(const Tensor& x) {
  constexpr std::int64_t kAlignedBytes = 16;
  for (int d = x.dims() - 2; d < x.dims(); ++d)
    if (const std::int64_t bytes = x.layout().strides[d] * size_of(x.dtype());
        x.layout().strides[d] != 1 && bytes % kAlignedBytes != 0)
      throw Error(Errc::bad_value,
                  "[grouped_mm] rows of " + std::to_string(bytes) + " bytes; torch takes multiples of 16",
                  "config.json", "make hidden_size and the width of an expert multiples of 8");
}

/// What the kernel of CUTLASS takes for the time of the product: pointers, strides and sizes of each group, then a part
/// for each multiprocessor.  torch: bf16bf16_grouped_gemm_impl_sm90_sm100; the parts of compute capability 10 were
/// found by recording, for its two sizes of tiles.
void take_cutlass_memory(Run& run, std::int64_t groups, std::int64_t rows_of_group, std::int64_t columns) {
  constexpr std::int64_t kMostGroups = 1023;  // bf16bf16_grouped_gemm_impl_sm90_sm100
  if (groups > kMostGroups)
    throw Error(Errc::bad_value, "[grouped_mm] torch cannot process " + std::to_string(groups) + " groups",
                "config.json", "at most 1023 experts");
  const Setting<Category> category(run.category, Category::workspace);
  constexpr std::int64_t kPointer = 8, kStride = 8, kProblem = 12, kMostRowsOfSmall = 128;
  const std::int64_t aligned_groups = (groups + 1) / 2 * 2;
  const Ref<Storage> arguments = run.allocate(3 * aligned_groups * kPointer + groups * kProblem + 3 * groups * kStride);
  const bool small = rows_of_group <= kMostRowsOfSmall || columns <= kMostRowsOfSmall;
  const std::int64_t part = run.card().compute_capability_major == 9 ? 512 : small ? 5376 : 5888;
  const Ref<Storage> workspace = run.allocate(run.card().multiprocessors * part);
}

/// at::_grouped_mm: a (S, K) and b (E, K, N) -> (S, N), or a (M, S) and b (S, N) -> (E, M, N).
Tensor grouped_product(const Tensor& a, const Tensor& b, std::int64_t groups) {
  Kernel kernel(a.run(), "_grouped_mm");
  check_width(a);
  check_width(b);
  const bool ragged = b.dims() == 2;
  Tensor y = empty(a.run(), ragged ? Dims{groups, a.size(0), b.size(1)} : Dims{a.size(0), b.size(2)}, a.dtype());
  check_width(y);  // else it is padded
  // Each row is in one group, whichever of the two has them.
  if (Work* work = a.run().counted())
    work->add_product(
        y.dtype(), static_cast<double>(ragged ? groups * a.size(0) : a.size(0)), static_cast<double>(y.size(-1)),
        static_cast<double>(a.size(1)) / static_cast<double>(ragged ? groups : 1), a.run().computes_backward());
  const std::int64_t major = a.run().card().compute_capability_major;
  const bool fast = (major == 9 || major == 10) && a.dtype() == Dtype::bf16 && b.dtype() == Dtype::bf16;
  if (fast)
    take_cutlass_memory(a.run(), groups, ragged ? a.size(0) : a.size(0) / groups, b.size(-1));
  else if (y.elements() > 0 && a.elements() > 0)
    for (std::int64_t group = 0; group < groups; ++group)  // _grouped_mm_fallback: a product for each, into its place
      const Ref<Storage> workspace = matmul_workspace(a.run());
  kernel.gives({&y});
  return y;
}

/// grouped_mm_mat1_grad, grouped_mm_mat2_grad: in the order of the operand itself.
Tensors grouped_mm_backward(Backward& call) {
  const std::int64_t groups = call.facts.c;
  const auto turned = [](const Tensor& x) { return transpose(x, -2, -1); };
  const Tensor& gradient = call.gradient();
  Tensor second, first;
  if (call.needs(1))
    second = call.facts.b == 1 ? turned(grouped_product(turned(gradient), call.saved[0], groups))
                               : grouped_product(turned(call.saved[0]), gradient, groups);
  if (call.needs(0)) first = grouped_product(gradient, turned(call.saved[1]), groups);
  return {std::move(first), std::move(second)};
}

}  // namespace

/// Keeps the other operand for each gradient, and where groups end.
Tensor grouped_mm(Tensor x, Tensor weights, Tensor offsets) {
  const Op op(x, "aten::_grouped_mm");
  TM_CHECK(x.layout().strides[-1] == 1, "rows that do not lie in one piece");
  const std::int64_t groups = weights.size(0);
  const Facts facts{.b = weights.layout().strides[1] == 1 ? 1 : 0, .c = groups};
  Tensors saved{needs_grad(weights) ? x : Tensor(), needs_grad(x) ? weights : Tensor(), std::move(offsets)};
  Tensor y = grouped_product(x, weights, groups);
  return record(
      std::move(y), {std::move(x), std::move(weights)},
      {.name = "GroupedMmBackward0", .saved = std::move(saved), .facts = facts, .backward = grouped_mm_backward});
}

}  // namespace tidemark
