// Sums and means.  torch: aten/src/ATen/native/ReduceOps.cpp
#include "ops/ops.h"

namespace tidemark {
namespace {

Dims mark(const Tensor& x, const Dims& dims) {
  Dims reduced = x.sizes();
  for (int d = 0; d < reduced.count(); ++d) reduced[d] = dims.count() == 0 ? 1 : 0;
  for (std::int64_t d : dims) reduced[static_cast<int>(d)] = 1;
  return reduced;
}

}  // namespace

/// Its gradient is the expanded gradient, divided.
Tensor mean(Tensor x, int d, bool keep_dims) {
  const Op op(x, "aten::mean");
  Tensor y = plain_sum(x, mark(x, Dims{d}), keep_dims, x.dtype());
  const Facts facts{.sizes = x.sizes(), .a = keep_dims ? -1 : x.sizes().at(d)};
  return record(std::move(y), {std::move(x)},
                {.name = "MeanBackward1", .facts = facts, .backward = [](Backward& call) -> Tensors {
                   Tensor gradient = call.gradient();
                   if (call.facts.a >= 0) gradient = unsqueeze(std::move(gradient), static_cast<int>(call.facts.a));
                   return {div_scalar(expand(std::move(gradient), call.facts.sizes))};
                 }});
}

}  // namespace tidemark
