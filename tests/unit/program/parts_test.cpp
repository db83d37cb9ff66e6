#include "program/parts.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(ViewedPart, IsOfFewerHeads) {
  // two of four heads, of 32 numbers each
  EXPECT_EQ(viewed_part({2, 8, 4, 32}, {2, 8, 128}, {2, 8, 64}), (Dims{2, 8, 2, 32}));
  EXPECT_EQ(viewed_part({2, 8, 128}, {2, 8, 4, 32}, {2, 8, 2, 32}), (Dims{2, 8, 64}));
  // one of two heads of keys, for each of which there are two of queries
  EXPECT_EQ(viewed_part({2, 4, 8, 32}, {2, 2, 2, 8, 32}, {2, 1, 2, 8, 32}), (Dims{2, 2, 8, 32}));
}

TEST(ViewedPart, IsWhatIsSaidOfWhatIsWhole) {
  EXPECT_EQ(viewed_part({16, 4}, {2, 8, 4}, {2, 8, 4}), (Dims{16, 4}));
  EXPECT_EQ(viewed_part({2, 8, -1, 32}, {2, 8, 128}, {2, 8, 64}), (Dims{2, 8, -1, 32}));  // torch finds it itself
  EXPECT_EQ(viewed_part({7}, {2, 8}, {2, 4}), (Dims{7}));  // no such view: the function says so
}

TEST(ExpandedPart, KeepsWhatIsNotExpanded) {
  EXPECT_EQ(expanded_part({2, 2, 3, 8, 32}, {2, 2, 1, 8, 32}, {2, 1, 1, 8, 32}), (Dims{2, 1, 3, 8, 32}));
  EXPECT_EQ(expanded_part({4, 2, 8}, {1, 8}, {1, 4}), (Dims{4, 2, 4}));
  EXPECT_EQ(expanded_part({2, 3}, {1, 3}, {1, 3}), (Dims{2, 3}));
}

}  // namespace
}  // namespace tidemark
