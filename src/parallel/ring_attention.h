// Attention over tokens that several GPUs share: each keeps its queries, and keys and values go round.
// torch: torch/distributed/tensor/experimental/_context_parallel/_attention.py (2.11.0)
#pragma once
#include "ops/ops.h"

namespace tidemark {

/// _cp_options.rotate_method: all keys and values are gathered at once, or each goes to the next GPU.
enum class RotateMethod : std::uint8_t { allgather, alltoall };

struct Ring {
  std::int64_t ranks = 1, rank = 0;
  bool load_balance = true;  // a GPU has a chunk from the beginning of each sample, and one from its end
  RotateMethod rotate_method = RotateMethod::allgather;
};

/// What context_parallel puts in the place of torch.nn.functional.scaled_dot_product_attention.  q (B, H, S, D), k and
/// v (B, K, S, D): this GPU's tokens.  Throws Error{unsupported} for what it does not take.
Tensor ring_attention(const Ring& ring, Tensor q, Tensor k, Tensor v, const Tensor& mask,
                      const AttentionOptions& options);

}  // namespace tidemark
