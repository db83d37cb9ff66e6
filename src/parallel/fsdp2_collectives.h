// What fully_shard's collectives allocate: buffers, and the tables with which one kernel copies many tensors.
// torch 2.11.0: torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py
#pragma once
#include <vector>

#include "ops/ops.h"

namespace tidemark {

// Streams of FSDPCommContext, of which blocks of the allocator belong to one each.  The gathering itself allocates
// nothing.
inline constexpr StreamId kAllGatherCopyInStream = 1, kReduceScatterStream = 2, kAllReduceStream = 3;

/// split_with_sizes_copy: `chunk_bytes` of each of `ranks` rows to one tensor each; nothing is left of its table.
void split_with_sizes_copy(Run& run, const std::vector<std::int64_t>& chunk_bytes, std::int64_t ranks);

/// chunk_cat: every tensor's chunks, `chunk_bytes` each as they arrive, behind those of the others; likewise.
void chunk_cat(Run& run, const std::vector<std::int64_t>& chunk_bytes);

}  // namespace tidemark
