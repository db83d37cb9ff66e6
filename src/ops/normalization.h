// Normalizations that models of images and sounds have; layer_norm stands in ops/ops.h.
#pragma once
#include "tensor/tensor.h"

namespace tidemark {

/// What a layer has; each may be none.
struct BatchNormParameters {
  Tensor weight, bias, running_mean, running_variance;
};

/// In training: over all but the channels, dimension 1.  Running statistics are written over in place.
Tensor batch_norm(Tensor x, BatchNormParameters parameters);
/// Whether it is known what batch_norm allocates for such a layout.
bool is_batch_norm_known(const Tensor& x, const BatchNormParameters& parameters);

/// Over groups of channels.
Tensor group_norm(Tensor x, std::int64_t groups, Tensor weight, Tensor bias);

/// Over the last dimension; the weight may be none.  torch: nn.functional.rms_norm
Tensor rms_norm(Tensor x, Tensor weight);
/// Whether one kernel does it, and not several operations: of a weight in x's type.
bool is_rms_norm_fused(const Tensor& x, const Tensor& weight);

/// A weight of its direction and of its norms over all dimensions but the first, or but the last.  torch: _weight_norm
Tensor weight_norm(Tensor direction, Tensor scale);

/// x divided by its norm along a dimension.  torch: nn.functional.normalize
Tensor normalize(Tensor x, int d);

}  // namespace tidemark
