// Results whose channels are last in memory because those of their operands are.
#pragma once
#include "tensor/tensor.h"

namespace tidemark {

/// Whether its channels are taken to be last.  torch: c10/core/TensorImpl.h, suggest_memory_format (2.11.0)
bool is_channels_last(const Layout& x);
/// Whether it is what torch.channels_last makes; sizes of 1 may have any stride, so that it may be contiguous, too.
/// torch: c10/core/Contiguity.h, _compute_channels_last_contiguous_2d (2.11.0)
bool is_contiguous_channels_last(const Layout& x);

/// What torch.channels_last makes, or the usual order.
Layout layout_of(const Dims& sizes, bool channels_last);
/// Its channels are last where those of x are.
Layout layout_like(const Tensor& x, const Dims& sizes);

/// Of a concatenation.  torch: native/TensorShape.cpp, cat_compute_output_memory_format (2.11.0)
Layout cat_layout(const Tensors& parts, const Dims& sizes);

}  // namespace tidemark
