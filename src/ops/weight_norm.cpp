// torch: aten/src/ATen/native/WeightNorm.cpp, _weight_norm; cuda/WeightNorm.cu, weight_norm_cuda,
// weight_norm_backward_cuda (2.11.0, 2.15.0): of the first or the last dimension
#include "ops/normalization.h"
#include "ops/ops.h"

namespace tidemark {

/// Keeps both parts and the norms, which are in float32.
Tensor weight_norm(Tensor direction, Tensor scale) {
  const Op op(direction, "aten::_weight_norm");
  direction = contiguous(std::move(direction));
  scale = contiguous(std::move(scale));
  Run& run = direction.run();
  Tensor y = empty(run, direction.sizes(), direction.dtype());
  Tensor norms = empty(run, scale.sizes(), size_of(scale.dtype()) < 4 ? Dtype::f32 : scale.dtype());
  Tensors saved{direction, scale, std::move(norms)};
  return record(
      std::move(y), {std::move(direction), std::move(scale)},
      {.name = "WeightNormInterfaceBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
         const Tensor gradient = contiguous(call.gradient());
         const auto of = [&](const Tensor& part) { return empty(call.run, part.sizes(), part.dtype()); };
         Tensor of_direction = of(call.saved[0]);
         return {std::move(of_direction), of(call.saved[1])};
       }});
}

}  // namespace tidemark
