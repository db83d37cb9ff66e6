// torch.autocast: torch: aten/src/ATen/autocast_mode.cpp, cached_cast and the lists of operations
#include "ops/ops.h"

namespace tidemark {

/// In front of operations of the lower-precision list; of several arguments the last is cast first, as the compiled
/// WrapFunction_ evaluates them.  Casts of trainable float32 leaves are kept until the context
/// ends.
Tensor autocast_low(Tensor x) {
  if (!x) return x;
  AutocastState& autocast = x.run().autocast;
  if (!autocast.enabled || !is_floating(x.dtype()) || x.dtype() == Dtype::f64 || x.dtype() == autocast.dtype) return x;
  const bool keep = x.dtype() == Dtype::f32 && x.requires_grad() && !x.impl().grad_fn;
  if (!keep) return to(std::move(x), autocast.dtype);
  for (const auto& [weight, cast] : autocast.weights)
    if (weight == &x.impl()) return cast;
  TensorImpl* weight = &x.impl();
  Tensor cast = to(std::move(x), autocast.dtype);
  autocast.weights.emplace_back(weight, cast);
  return cast;
}

Tensor autocast_f32(Tensor x) {
  if (!x || !x.run().autocast.enabled || !is_floating(x.dtype()) || size_of(x.dtype()) >= 4) return x;
  return to(std::move(x), Dtype::f32);
}

}  // namespace tidemark
