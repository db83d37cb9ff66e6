// Tensors in buckets of about the same size, as torch.distributed sends them.
#pragma once
#include <vector>

#include "ops/ops.h"

namespace tidemark {

using Bucket = std::vector<std::size_t>;  // indices into a list of tensors

enum class BucketOrder {
  by_first_index,  // of tensors in the order of registration
  as_they_come,    // of tensors in the order in which their gradients are ready
};

/// A bucket is closed by the tensor with which it reaches its limit; the last limit holds for all that come after.
/// Tensors of different types do not share one.  torch: compute_bucket_assignment_by_size,
/// torch/csrc/distributed/c10d/reducer.cpp (2.11.0)
std::vector<Bucket> buckets_by_size(const std::vector<Tensor>& tensors, const std::vector<std::int64_t>& limits_bytes,
                                    BucketOrder order);

/// One flat tensor after another, at most two at a time, each freed when its broadcast is over.
/// torch: broadcast_coalesced, torch/csrc/distributed/c10d/comm.cpp (2.11.0)
void broadcast_coalesced(Run& run, const std::vector<Tensor>& tensors, std::int64_t bucket_bytes);

}  // namespace tidemark
