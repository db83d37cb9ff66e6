// torch: aten/src/ATen/native/Distance.cpp, cdist_impl, _euclidean_dist (2.11.0, 2.15.0)
#include "ops/ops.h"

namespace tidemark {
namespace {

/// From here on products do it.
constexpr std::int64_t kManyRows = 26;

/// The squared norms of its rows, and as many ones.
Tensors norms_of(const Tensor& x) {
  Tensor norms = sum(pow2(x), Dims{-1}, true);
  Tensor ones = empty(x.run(), norms.sizes(), norms.dtype());
  return {std::move(norms), std::move(ones)};
}

/// Side by side with its norms, in whichever order.
Tensor beside(const Tensor& x, Tensors norms) { return cat({x, std::move(norms[0]), std::move(norms[1])}, -1); }

/// _euclidean_dist
Tensor distances(const Tensor& from, const Tensor& to) {
  Tensors from_norms = norms_of(from), to_norms = norms_of(to);
  Tensor scaled = mul_scalar(from);
  const Tensor rows = beside(scaled, std::move(from_norms));
  scaled.reset();
  const Tensor columns = beside(to, std::move(to_norms));
  return matmul(rows, transpose(columns, -2, -1));
}

}  // namespace

Tensor cdist(Tensor x, Tensor y) {
  TM_CHECK(x.dims() == 3 && y.dims() == 3 && x.size(0) == y.size(0) && x.size(2) == y.size(2), "rows of two batches");
  TM_CHECK(!x.requires_grad() && !y.requires_grad(), "distances that nobody learns from");
  const Op op(x, "aten::cdist");
  const Tensor from = autocast_f32(x), to = autocast_f32(y);  // autocast_mode.h, AT_FORALL_FP32
  const Setting<bool> inside(x.run().autocast.enabled, false);
  const Tensor from_in_order = contiguous(from), to_in_order = contiguous(to);
  if (from.size(1) < kManyRows && to.size(1) < kManyRows)
    return empty(x.run(), Dims{from.size(0), from.size(1), to.size(1)}, from.dtype());
  const bool is_one = from.size(0) == 1;  // for which the copies are made for nothing
  return distances(is_one ? from : from_in_order, is_one ? to : to_in_order);
}

}  // namespace tidemark
