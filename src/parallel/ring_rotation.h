// How keys and values, or their gradients, go from one GPU to the next.
// torch: torch/distributed/tensor/experimental/_context_parallel/_attention.py, _RingRotater (2.11.0)
#pragma once
#include "parallel/ring_attention.h"

namespace tidemark {

class RingRotation {
 public:
  RingRotation(const Ring& ring, RotateMethod method) : ring_(ring), method_(method) {}

  /// Sends a flat tensor, which stays until it has arrived.  With all-gather the first one sends all there will be.
  void exchange_buffers(const Tensor& buffer);
  /// Waits for what the last GPU has sent.
  Tensor next_buffer();

 private:
  const Ring ring_;
  const RotateMethod method_;
  Tensor received_;
};

/// torch.cat([key.flatten(), value.flatten()])
Tensor flat_pair(const Tensor& key, const Tensor& value);
/// Of such a tensor the first, and the second of the two.
Tensor first_of(const Tensor& pair, const Tensor& like);
Tensor second_of(const Tensor& pair, const Tensor& first, const Tensor& like);

/// _partial_update: half of the tokens (dimension 2) is replaced, or added to where it lies, and joined with the other.
Tensor with_half_updated(const Tensor& original);

}  // namespace tidemark
