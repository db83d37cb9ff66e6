#include "ops/cub.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

/// Of 9,216 indices into 32 rows, as PyTorch 2.15.0 asks for it on an H200 (the gradient of T5's position biases), and
/// into so many that their numbers have two bytes.
TEST(CubSort, OnePassNeedsNoOtherBuffers) {
  Card card;
  card.compute_capability_major = 9;
  EXPECT_EQ(cub_sort_bytes(9216, cub_sort_passes(32), card), 4096 + 511);
  EXPECT_EQ(cub_sort_bytes(9216, cub_sort_passes(1000), card), 4096 + 2048 + 2 * 73728 + 511);
}

}  // namespace
}  // namespace tidemark
