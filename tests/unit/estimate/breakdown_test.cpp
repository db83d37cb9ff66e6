#include "estimate/breakdown.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(Breakdown, ReplacesNumbersBetweenDots) {
  EXPECT_EQ(without_indices("model.layers.12.mlp.up_proj"), "model.layers.*.mlp.up_proj");
  EXPECT_EQ(without_indices("0.1"), "*.*");
  EXPECT_EQ(without_indices("conv1.bn2"), "conv1.bn2");
  EXPECT_EQ(without_indices(""), "");
  EXPECT_EQ(without_indices("a."), "a.");
}

TEST(Breakdown, AddsRepeatedLayersUpLargestFirst) {
  const auto rows = layers_together({{"head", 5}, {"layers.0.mlp", 3}, {"layers.1.mlp", 4}, {"embed", 5}});
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].name, "layers.*.mlp");
  EXPECT_EQ(rows[0].bytes, 7);
  EXPECT_EQ(rows[1].name, "head");
  EXPECT_EQ(rows[2].name, "embed");
}

}  // namespace
}  // namespace tidemark
