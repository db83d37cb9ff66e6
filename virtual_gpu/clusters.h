// Thread block clusters (compute capability 9.0 and later): how many of a size the card holds at once.
#pragma once
#include <cstdint>

#include "card.h"

namespace tidemark {

/// CUlaunchAttribute and cudaLaunchAttribute (cuda.h, driver_types.h, CUDA 12.4 and 13.0).
struct LaunchAttribute {
  int id, padding;
  std::uint32_t value[16];
};

/// Thread blocks of a cluster, as a launch's attributes ask; 1 where they do not say.
int blocks_per_cluster(const LaunchAttribute* attributes, unsigned count);

/// Multiprocessors of one graphics processing cluster of the whole die, by the major compute capability: a cluster of
/// blocks lies within one. 18 on an H100 (NVIDIA/cutlass: include/cutlass/gemm/kernel/tile_scheduler_params.h:
/// `max_sm_per_gpc`), 20 on a B200 and 16 on an RTX 5090 (as the press reports of their dies, 160 multiprocessors in 8
/// and 192 in 12, give; smaller dies have fewer).
int multiprocessors_per_gpc(int compute_capability_major);

/// Clusters of `blocks` thread blocks that are on the card at once, when a multiprocessor holds `resident` blocks.
/// Which multiprocessors a card has lost to yield differs from die to die; here they are spread evenly, in pairs: six
/// times 16 and twice 18 of an H100's 132.
int max_active_clusters(int blocks, int resident, int multiprocessors, int multiprocessors_per_gpc);
/// The same of clusters as a launch's attributes ask for, on that card.
int max_active_clusters(const LaunchAttribute* attributes, unsigned count, int resident, const Card& card);

}  // namespace tidemark
