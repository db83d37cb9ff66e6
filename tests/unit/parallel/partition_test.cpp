#include "parallel/partition.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

//   elements  0    4    8    12   16   20   24
//   tensors   |-----10----|--3--|-----9-----|..   two of padding
//   ranks     |-----8----|----8-----|----8-----|
TEST(Partition, CutsTensorsWhereRanksMeet) {
  const Partition found = partition({10, 3, 9}, 3, 2);
  EXPECT_EQ(found.elements, 24);
  EXPECT_EQ(found.part_elements, 8);
  EXPECT_EQ(found.offsets, (std::vector<std::int64_t>{0, 10, 13}));
  EXPECT_EQ(found.share(0, 0), 8);
  EXPECT_EQ(found.share(0, 1), 2);
  EXPECT_EQ(found.share(0, 2), 0);
  EXPECT_EQ(found.share(1, 1), 3);
  EXPECT_EQ(found.share(2, 1), 3);
  EXPECT_EQ(found.share(2, 2), 6);
  EXPECT_EQ(found.first_rank(0), 0);
  EXPECT_EQ(found.last_rank(0), 1);
  EXPECT_EQ(found.first_rank(2), 1);
  EXPECT_EQ(found.last_rank(2), 2);
}

TEST(Partition, IsNotPaddedWhenItDivides) {
  const Partition found = partition({6, 6}, 3, 2);
  EXPECT_EQ(found.elements, 12);
  EXPECT_EQ(found.part_elements, 4);
}

TEST(Partition, LeavesRanksWithPaddingAlone) {
  const Partition found = partition({3}, 4, 2);
  EXPECT_EQ(found.elements, 8);
  EXPECT_EQ(found.last_rank(0), 1);
  EXPECT_EQ(found.share(0, 3), 0);
}

TEST(Partition, OfOneRankIsTheWhole) {
  const Partition found = partition({5, 2}, 1, 2);
  EXPECT_EQ(found.elements, 8);
  EXPECT_EQ(found.share(0, 0), 5);
  EXPECT_EQ(found.share(1, 0), 2);
}

}  // namespace
}  // namespace tidemark
