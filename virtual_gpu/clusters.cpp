#include "clusters.h"

#include <algorithm>

namespace tidemark {

int blocks_per_cluster(const LaunchAttribute* attributes, unsigned count) {
  constexpr int kClusterDimension = 4;  // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
  for (unsigned i = 0; i < count; ++i)
    if (attributes[i].id == kClusterDimension)
      return std::max(static_cast<int>(attributes[i].value[0] * attributes[i].value[1] * attributes[i].value[2]), 1);
  return 1;
}

int multiprocessors_per_gpc(int compute_capability_major) {
  if (compute_capability_major >= 12) return 16;
  return compute_capability_major >= 10 ? 20 : 18;
}

int max_active_clusters(int blocks, int resident, int multiprocessors, int multiprocessors_per_gpc) {
  const int pairs = multiprocessors / 2,
            gpcs = (multiprocessors + multiprocessors_per_gpc - 1) / multiprocessors_per_gpc;
  int clusters = 0;
  for (int gpc = 0; gpc < gpcs; ++gpc) {
    const int here = 2 * (pairs / gpcs + (gpc < pairs % gpcs ? 1 : 0));
    clusters += here * resident / blocks;
  }
  return clusters;
}

int max_active_clusters(const LaunchAttribute* attributes, unsigned count, int resident, const Card& card) {
  const int per_gpc = multiprocessors_per_gpc(card.compute_capability_major);
  return max_active_clusters(blocks_per_cluster(attributes, count), resident, card.multiprocessors, per_gpc);
}

}  // namespace tidemark
