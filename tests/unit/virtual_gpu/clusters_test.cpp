#include "clusters.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tidemark {
namespace {

TEST(Clusters, SizeIsTheProductOfTheLaunchAttributesDimensions) {
  const LaunchAttribute attributes[] = {{.id = 1, .padding = 0, .value = {7}},
                                        {.id = 4, .padding = 0, .value = {2, 3, 1}}};
  EXPECT_EQ(blocks_per_cluster(attributes, 2), 6);
  EXPECT_EQ(blocks_per_cluster(attributes, 1), 1);
  EXPECT_EQ(blocks_per_cluster(nullptr, 0), 1);
}

TEST(Clusters, AnH100HasTwoProcessingClustersThatAreWhole) {
  EXPECT_EQ(max_active_clusters(18, 1, 132, 18), 2);
  EXPECT_EQ(max_active_clusters(16, 1, 132, 18), 8);
  EXPECT_EQ(max_active_clusters(4, 1, 132, 18), 32);
  EXPECT_EQ(max_active_clusters(1, 1, 132, 18), 132);
  EXPECT_EQ(max_active_clusters(16, 2, 132, 18), 16);
}

// libcudnn_graph 9.1 (mb_tools::GpcVSL::queryFromDefaultDevice) finds the processing clusters so, from the largest size
// down: those that hold one more than the ones it has found.  Of an answer that no layout gives it never comes to an
// end.
RC_GTEST_PROP(Clusters, LayoutIsFoundAgainFromTheAnswers, ()) {
  const int per_gpc = 2 * *rc::gen::inRange(1, 16), pairs = *rc::gen::inRange(1, 100);
  std::vector<int> found;
  for (int size = per_gpc; size > 0; size -= 2) {
    int left = max_active_clusters(size, 1, 2 * pairs, per_gpc);
    for (const int gpc : found) left -= gpc / size;
    RC_ASSERT(left >= 0);
    found.insert(found.end(), static_cast<std::size_t>(left), size);
  }
  int all = 0;
  for (const int gpc : found) all += gpc;
  RC_ASSERT(all == 2 * pairs);
}

}  // namespace
}  // namespace tidemark
