// Sums and means.  torch: aten/src/ATen/native/ReduceOps.cpp
#include "ops/cub.h"
#include "ops/ops.h"

namespace tidemark {
namespace {

/// No dimensions stand for all.
Dims mark(const Tensor& x, const Dims& dims) {
  Dims reduced = x.sizes();
  for (int d = 0; d < reduced.count(); ++d) reduced[d] = dims.count() == 0 ? 1 : 0;
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
Tensor mean(Tensor x, int d, bool keep_dims) {
  const Op op(x, "aten::mean");
  Tensor y = plain_sum(x, mark(x, Dims{d}), keep_dims, x.dtype());
  const Facts facts = facts_of(x, Dims{d}, keep_dims);
  return record(std::move(y), {std::move(x)},
                {.name = "MeanBackward1", .facts = facts, .backward = [](Backward& call) -> Tensors {
                   return {div_scalar(spread(call))};
                 }});
}

/// Whole numbers are summed as int64, and converted before the kernel.
Tensor sum(Tensor x, const Dims& dims, bool keep_dims) {
  const Op op(x, "aten::sum");
  Dtype dtype = is_floating(x.dtype()) ? x.dtype() : Dtype::int64;
  if (x.run().autocast.enabled && is_floating(dtype)) dtype = Dtype::f32;  // fp32_set_opt_dtype
  Tensor y = plain_sum(x, mark(x, dims), keep_dims, dtype);
  const Facts facts = facts_of(x, dims, keep_dims);
  return record(std::move(y), {std::move(x)},
                {.name = "SumBackward1", .facts = facts, .backward = [](Backward& call) -> Tensors {
                   return {spread(call)};
                 }});
}

/// One row alone is scanned by CUB.  torch: native/cuda/ScanUtils.cuh, scan_dim
Tensor cumsum(Tensor x, int d) {
  const Op op(x, "aten::cumsum");
  TM_CHECK(!x.requires_grad() && x.dtype() == Dtype::int64, "a cumulative sum of whole numbers, without a gradient");
  Tensor y = empty(x.run(), x.sizes(), Dtype::int64);
  if (x.elements() == x.size(d)) x.run().allocate(cub_scan_bytes(x.elements())).reset();
  return y;
}

}  // namespace tidemark
