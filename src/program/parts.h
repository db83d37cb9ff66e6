// Sizes that a program says of whole tensors, where a strategy has split these among GPUs: a GPU's own part of heads.
#pragma once
#include "tensor/layout.h"

namespace tidemark {

/// What `Tensor.view` or `reshape` of a tensor gives that is `now` large and is `whole` in the program, which says
/// `said`.
Dims viewed_part(const Dims& said, const Dims& whole, const Dims& now);
/// The same of `Tensor.expand`: what is not expanded stays as large as it is.
Dims expanded_part(const Dims& said, const Dims& whole, const Dims& now);

}  // namespace tidemark
