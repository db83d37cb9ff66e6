// Sums and means.  torch: aten/src/ATen/native/ReduceOps.cpp
#include "tensor/reduction.h"
#include "ops/cub.h"
#include "ops/ops.h"
#include "ops/selection.h"

namespace tidemark {
namespace {

/// No dimensions stand for all.
Dims mark(const Tensor& x, const Dims& dims) {
  if (dims.count() == 0) return every_dimension(x);
  Dims reduced = x.sizes();
  for (int d = 0; d < reduced.count(); ++d) reduced[d] = 0;
  for (std::int64_t d : dims) reduced[static_cast<int>(d)] = 1;
  return reduced;
}

/// Shows the gradient of a reduction in the sizes of what was reduced.
Tensor spread(Backward& call) {
  Tensor gradient = call.gradient();
  for (int d = 0; d < call.facts.sizes.count(); ++d)
    if ((call.facts.a >> d & 1) != 0) gradient = unsqueeze(std::move(gradient), d);
  return expand(std::move(gradient), call.facts.sizes);
}

/// The sizes, and a bit for each dimension that has gone.
Facts facts_of(const Tensor& x, const Dims& dims, bool keep_dims) {
  Facts facts{.sizes = x.sizes()};
  if (!keep_dims)
    for (std::int64_t d : dims) facts.a |= std::int64_t{1} << x.sizes().at(static_cast<int>(d));
  return facts;
}

}  // namespace

/// Its gradient is the expanded gradient, divided.
Tensor mean(Tensor x, const Dims& dims, bool keep_dims) {
  const Op op(x, "aten::mean");
  Tensor y = plain_sum(x, mark(x, dims), keep_dims, x.dtype());
  const Facts facts = facts_of(x, dims, keep_dims);
  return record(std::move(y), {std::move(x)},
                {.name = "MeanBackward1", .facts = facts, .backward = [](Backward& call) -> Tensors {
                   return {div_scalar(spread(call))};
                 }});
}

/// Keeps both.  torch: native/ReduceOps.cpp, std_var_out; FunctionsManual.cpp, std_backward and var_backward: what the
/// expressions there make lives until they end (2.15.0)
Tensor deviation(Tensor x, int d, bool keep_dims) {
  const Op op(x, "aten::std");
  const Dims dims{x.sizes().at(d)};
  TM_CHECK(reduction_scratch(x.layout(), mark(x, dims), x.dtype(), Dtype::f32, x.run().card()) == ReductionScratch{},
           "a standard deviation of so many numbers is not by one block of threads");
  Tensor y = plain_sum(x, mark(x, dims), keep_dims, x.dtype());
  Tensors saved{x, alias(y)};
  const Facts facts{.a = dims[0], .b = keep_dims ? 1 : 0};
  return record(
      std::move(y), {std::move(x)},
      {.name = "StdBackward0", .saved = std::move(saved), .facts = facts, .backward = [](Backward& call) -> Tensors {
         const Tensor& input = call.saved[0];
         Tensor gradient = [&] {
           const Tensor twice = mul_scalar(call.saved[1]);
           Tensor ratio = div(call.gradient(), twice);
           const Tensor is_zero = compare("aten::eq", call.saved[1]);
           return ratio;
         }();
         const int dim = static_cast<int>(call.facts.a);
         if (call.facts.b == 0) gradient = unsqueeze(std::move(gradient), dim);
         const Tensor center = mean(input, Dims{dim}, true);  // the second factor first, as GCC has it
         const Tensor around = sub(input, center);
         const Tensor scaled = mul_scalar(gradient);
         return {mul(scaled, around)};
       }});
}

/// Whole numbers are summed as int64, and converted before the kernel; halves are summed as float32 in it.
/// torch: native/ReduceOpsUtils.h, make_reduction_from_ty
Tensor sum_as(Tensor x, const Dims& dims, bool keep_dims, Dtype dtype) {
  const Op op(x, "aten::sum");
  Tensor y = plain_sum(x, mark(x, dims), keep_dims, dtype);
  const Facts facts = facts_of(x, dims, keep_dims);
  return record(
      std::move(y), {std::move(x)},
      {.name = "SumBackward1", .facts = facts, .backward = [](Backward& call) -> Tensors { return {spread(call)}; }});
}

Tensor sum(Tensor x, const Dims& dims, bool keep_dims) {
  Dtype dtype = is_floating(x.dtype()) ? x.dtype() : Dtype::int64;
  if (x.run().autocast.enabled && is_floating(dtype)) dtype = Dtype::f32;  // fp32_set_opt_dtype
  return sum_as(std::move(x), dims, keep_dims, dtype);
}

/// Keeps its input.  torch: FunctionsManual.cpp, nansum_backward: the spread gradient * self.isnan().logical_not()
Tensor nansum(Tensor x) {
  const Op op(x, "aten::nansum");
  Tensor y = plain_sum(x, mark(x, {}), false, x.dtype());
  Tensors saved{x};
  const Facts facts = facts_of(x, {}, false);
  return record(
      std::move(y), {std::move(x)},
      {.name = "NansumBackward0", .saved = std::move(saved), .facts = facts, .backward = [](Backward& call) -> Tensors {
         Tensor gradient = spread(call);
         const Tensor is_nan = compare("aten::isnan", call.saved[0]);
         const Tensor is_number = compare("aten::logical_not", is_nan);
         return {mul(std::move(gradient), is_number)};
       }});
}

/// torch: native/ReduceOps.cpp, nanmean
Tensor nanmean(Tensor x) {
  Tensor is_number = compare("aten::isnan", detach(x));
  Tensor count = count_true(std::move(is_number));
  Tensor total = nansum(std::move(x));
  return div(std::move(total), std::move(count));
}

/// Keeps its input and its result.  torch: FunctionsManual.cpp, linalg_vector_norm_backward: grad * (self / norm), with
/// 0 where the norm is.
Tensor linalg_vector_norm(Tensor x, double ord, const Dims& dims, bool keep_dims) {
  TM_CHECK(ord == 2 && keep_dims, "only the vector norm of order 2 that keeps its dimensions");
  const Op op(x, "aten::linalg_vector_norm");
  const bool widens = x.run().autocast.enabled && size_of(x.dtype()) < 4;  // autocast gives it a type, not a copy
  Tensor y = plain_sum(x, mark(x, dims), keep_dims, widens ? Dtype::f32 : x.dtype());
  Tensors saved{x, alias(y)};
  return record(
      std::move(y), {std::move(x)},
      {.name = "LinalgVectorNormBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
         const Tensor ratio = div(call.saved[0], call.saved[1]);
         const Tensor is_zero = compare("aten::eq", call.saved[1]);
         return {mul(call.gradient(), ratio)};
       }});
}

/// torch: native/ReduceAllOps.cpp, max: its result is made before what it reads is laid in order
Tensor max(Tensor x) {
  const Op op(x, "aten::max");
  Tensor result = plain_sum(x, mark(x, {}), false, x.dtype());
  contiguous(x);
  return result;
}

Tensor prod(Tensor x, int d, bool keep_dims) {
  const Op op(x, "aten::prod");
  return plain_sum(x, mark(x, Dims{d}), keep_dims, x.dtype());
}

namespace {

/// The result comes before the converted input.  A single row goes through CUB.
/// torch: native/cuda/ScanKernels.cpp, ScanUtils.cuh, scan_dim
Tensor cumsum_of_integers(const Tensor& x, int d, Dtype dtype) {
  Tensor y = empty(x.run(), x.sizes(), dtype);
  const Tensor converted = x.dtype() == dtype ? contiguous(x) : empty_like(x, dtype);
  if (x.elements() == x.size(d) && x.elements() > 0) {
    const Setting<Category> category(x.run().category, Category::workspace);
    x.run().allocate(cub_scan_bytes(x.elements(), size_of(dtype))).reset();
  }
  return y;
}

/// The result comes before the contiguous copy of the input.  torch: native/cuda/ScanKernels.cpp
Tensor cumsum_of_floats(const Tensor& x) {
  Tensor y = empty(x.run(), x.sizes(), x.dtype());
  const Tensor in_order = x.is_contiguous() ? Tensor() : empty(x.run(), x.sizes(), x.dtype());
  return y;
}

}  // namespace

/// Integers have no gradient.
/// torch: FunctionsManual.cpp, cumsum_backward: grad.flip(dim).cumsum(dim).flip(dim)
Tensor cumsum(Tensor x, int d, std::optional<Dtype> dtype) {
  const Op op(x, "aten::cumsum");
  if (!is_floating(x.dtype())) return cumsum_of_integers(x, d, dtype.value_or(Dtype::int64));
  if (!dtype && x.run().autocast.enabled) dtype = Dtype::f32;
  const Tensor converted = to(x, dtype.value_or(x.dtype()));
  Tensor y = cumsum_of_floats(converted);
  const Facts facts{.sizes = x.sizes(), .a = x.sizes().at(d), .dtype = x.dtype()};
  return record(std::move(y), {std::move(x)},
                {.name = "CumsumBackward0", .facts = facts, .backward = [](Backward& call) -> Tensors {
                   const int at = static_cast<int>(call.facts.a);
                   const Tensor gradient = to(call.gradient(), call.facts.dtype);
                   if (gradient.elements() <= 1 || gradient.size(at) == 1) return {gradient};
                   const Tensor turned = flip(gradient);
                   const Tensor sums = cumsum_of_floats(turned);
                   return {flip(sums)};
                 }});
}

}  // namespace tidemark
