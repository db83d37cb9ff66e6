// gtest goes first: rapidcheck's header for it does not include it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "parallel/fsdp2_param.h"

namespace tidemark {
namespace {

RC_GTEST_PROP(ShardRows, OfAllRanksAreTheWhole, ()) {
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 5000), ranks = *rc::gen::inRange<std::int64_t>(1, 300);
  std::int64_t sum = 0;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const auto [padded, own] = shard_rows(rows, ranks, rank);
    RC_ASSERT(own >= 0 && own <= padded);
    sum += own;
  }
  const std::int64_t padded = shard_rows(rows, ranks, 0).padded * ranks;
  RC_ASSERT(sum == rows);
  RC_ASSERT(padded >= rows && padded < rows + ranks);
}

}  // namespace
}  // namespace tidemark
