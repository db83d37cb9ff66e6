// A tensor in as many pieces as somebody says, such as one for each image.
#pragma once
#include <span>

#include "ops/ops.h"

namespace tidemark {

/// x.split([…], d), of any number of pieces.  torch: aten::split_with_sizes
Tensors split_sizes(Tensor x, std::span<const std::int64_t> pieces, int d);

}  // namespace tidemark
