#include "parallel/gradient_norm.h"

#include <algorithm>

#include "tensor/known_requests.h"
#include "tensor/reduction.h"

namespace tidemark {
namespace {

Tensor scalar(Run& run, const char* name, Dtype dtype) {
  const Op op(run, name);
  return empty(run, Dims{}, dtype);
}

ReductionScratch scratch_of(const Tensor& x, Dtype dtype) {
  Dims all = x.sizes();
  for (int d = 0; d < all.count(); ++d) all[d] = 1;
  return reduction_scratch(x.layout(), all, x.dtype(), dtype, x.run().card());
}

/// Over everything; `dtype` is that of the result and of the sums.
Tensor reduced(const char* name, const Tensor& x, Dtype dtype) {
  Run& run = x.run();
  const Op op(run, name);
  Tensor result = empty(run, Dims{}, dtype);
  const ReductionScratch scratch = scratch_of(x, dtype);
  if (scratch.buffer_bytes == 0) return result;
  const Setting<Category> workspace(run.category, Category::workspace);
  const Ref<Storage> buffer = run.allocate(scratch.buffer_bytes), semaphores = run.allocate(scratch.semaphore_bytes);
  return result;
}

Tensor boolean(const char* name, const Tensor& like) {
  const Op op(like, name);
  return empty_like(like, Dtype::boolean);
}

/// torch.isinf: abs(x) == inf
Tensor is_infinite(const Tensor& x) {
  const Op op(x, "aten::isinf");
  const Tensor absolute = empty_like(x);
  return empty_like(x, Dtype::boolean);
}

/// has_inf_or_nan
Tensor has_inf_or_nan(const Tensor& x) {
  Tensor extreme = reduced("aten::amax", x, x.dtype());
  Tensor highest = is_finite(extreme);
  extreme.reset();
  extreme = reduced("aten::amin", x, x.dtype());
  Tensor lowest = is_finite(extreme);
  extreme.reset();
  Tensor both = boolean("aten::logical_and", lowest);
  lowest.reset();
  highest.reset();
  return boolean("aten::logical_not", both);
}

/// mask_nan_or_inf_with_val_inplace
void mask_nan_or_inf(const Tensor& x) {
  const Tensor is_inf = is_infinite(x);
  const Tensor is_nan = boolean("aten::isnan", x), either = boolean("aten::logical_or", x);
  const Tensor value = scalar(x.run(), "aten::to", Dtype::f32);
}

/// torch.stack of single numbers.
Tensor stack_of(const TensorList& numbers) {
  const Op op(numbers.front(), "aten::stack");
  return empty(numbers.front().run(), Dims{static_cast<std::int64_t>(numbers.size())}, numbers.front().dtype());
}

/// (~torch.isfinite(x) | (x < 0)).any()
Tensor is_invalid(const Tensor& x) {
  Tensor infinite = is_finite(x);
  infinite = boolean("aten::bitwise_not", infinite);
  Tensor negative = boolean("aten::lt", x);
  const Tensor either = boolean("aten::__or__", x);
  infinite.reset();
  negative.reset();
  return scalar(x.run(), "aten::any", Dtype::boolean);
}

}  // namespace

Tensor is_finite(const Tensor& x) {
  const Op op(x, "aten::isfinite");
  const Tensor absolute = empty_like(x),
               is_bounded = empty_like(x, Dtype::boolean);  // the right side is computed first
  const Tensor is_number = empty_like(x, Dtype::boolean);
  return empty_like(x, Dtype::boolean);
}

void check_inf_or_nan(const Tensor& gradient) { has_inf_or_nan(gradient).reset(); }

void check_overflow(Run& run, const TensorList& gradients) {
  Tensor count;
  {
    const Op op(run, "aten::zeros");
    count = empty(run, Dims{1}, Dtype::f32);
  }
  KnownRequests<ReductionScratch> checks(run);
  for (const Tensor& gradient : gradients)  // all of one type
    checks.make(scratch_of(gradient, gradient.dtype()), [&] { check_inf_or_nan(gradient); });
  const Tensor overflow = boolean("aten::to", count);
  count.reset();
  const Tensor bytes = scalar(run, "aten::to", Dtype::uint8);
}

Tensor grad_norm(const Tensor& gradient) {
  const Tensor wide = [&] {
    const Op op(gradient, "aten::to");  // get_norm_dtype
    return empty_like(gradient, Dtype::f64);
  }();
  return reduced("aten::linalg_vector_norm", wide, Dtype::f64);
}

Tensor grad_norm_direct(Run& run, const TensorList& gradients, std::size_t count) {
  TensorList norms;
  Tensor total;
  for (std::size_t i = 0; i < count; ++i) norms.push_back(grad_norm(gradients[i]));
  if (norms.empty()) {
    total = scalar(run, "aten::to", Dtype::f32);
  } else {
    total = stack_of(norms);
    total = fresh("aten::pow", total);
    total = reduced("aten::sum", total, Dtype::f64);
    total = scalar(run, "aten::to", Dtype::f32);
  }
  total = fresh("aten::pow", total);
  mask_nan_or_inf(total);
  return total;
}

Tensor grad_norm_of_parts(Run& run, const TensorList& gradients) {
  TensorList norms;
  for (const Tensor& gradient : gradients) norms.push_back(grad_norm(gradient));
  Tensor total = stack_of(norms);
  total = fresh("aten::pow", total);
  total = reduced("aten::sum", total, Dtype::f64);
  const Tensor total_norm = fresh("aten::pow", total);
  const Tensor is_inf = is_infinite(total_norm), is_nan = boolean("aten::isnan", total_norm);
  const Tensor either = boolean("aten::logical_or", total_norm), err = scalar(run, "aten::to", Dtype::f32);
  run.stream_calls.host_waits();  // -1.0 comes from there
  const Op op(run, "aten::where");
  const Tensor wide = empty_like(err, Dtype::f64);
  return empty_like(total_norm);
}

Tensor norm_in_pieces(const Tensor& gradient) {
  constexpr std::int64_t kPieceElements = 250'000'000;
  Tensor norm;
  for (std::int64_t left = gradient.elements(); left > 0; left -= kPieceElements) {
    const Tensor of_piece = grad_norm(view_of(gradient, {Dims{std::min(left, kPieceElements)}, Dims{1}}));
    Tensor square = fresh("aten::pow", of_piece);
    if (!norm) norm = std::move(square);
  }
  return fresh("aten::pow", norm);
}

void check_norm_on_host(Run& run, Tensor total) {
  const Tensor total_norm_cuda = [&] {
    const Op op(run, "aten::to");
    return empty(run, Dims{1}, Dtype::f32);
  }();
  const Tensor total_norm = scalar(run, "aten::pow", Dtype::f32);
  total.reset();
  mask_nan_or_inf(total_norm);
}

Tensor combine_grad_norm_groups(const TensorList& norms) {
  const Tensor stacked = stack_of(norms);
  const Tensor invalid = is_invalid(stacked);
  const Tensor combined = reduced("aten::linalg_vector_norm", stacked, stacked.dtype());
  const Tensor infinity = fresh("aten::full_like", combined);
  return fresh("aten::where", combined);
}

void count_overflow(const Tensor& gradient) {
  const auto any_of = [](const Tensor& elements) { return reduced("aten::any", elements, Dtype::boolean); };
  const Tensor any_infinite = any_of(is_infinite(gradient));
  const Tensor any_nan = any_of(boolean("aten::isnan", gradient));
  boolean("aten::__or__", any_nan).reset();
}

void chunk_l2_norm(const Tensor& gradient) {
  const Tensor wide = [&] {
    const Op op(gradient, "aten::to");
    return empty_like(gradient, Dtype::f32);
  }();
  reduced("aten::linalg_vector_norm", wide, Dtype::f32).reset();
}

void check_grad_norm(const Tensor& norm) {
  const Tensor invalid = is_invalid(norm);
  norm.run().stream_calls.host_waits();
}

void unscale_and_clip(const Tensor& norm) {
  Tensor clip = fresh("aten::div", norm);
  clip = fresh("aten::add", clip);
  clip = fresh("aten::div", clip);
  clip = fresh("aten::clamp", clip);
  const Tensor combined_scale = fresh("aten::mul", clip);
  const Tensor reciprocal = fresh("aten::reciprocal", combined_scale);
  const Tensor factor = fresh("aten::mul", reciprocal);  // 1. / combined_scale
}

}  // namespace tidemark
