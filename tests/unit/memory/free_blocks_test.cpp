#include "memory/free_blocks.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/check.h"

namespace tidemark {
namespace {

TEST(FreeBlocks, IsASortedSetAcrossManyChunks) {
  FreeBlocks blocks;
  std::set<std::pair<std::int64_t, std::int64_t>> expected;
  std::mt19937_64 random(7);
  for (int step = 0; step < 20000; ++step) {
    const auto bytes = static_cast<std::int64_t>(random() % 40), address = static_cast<std::int64_t>(random() % 400);
    const bool there = expected.contains({bytes, address});
    const bool grow = (step / 4000) % 2 == 0 ? random() % 3 != 0 : random() % 3 == 0;
    if (grow && !there) {
      blocks.insert(bytes, address, static_cast<BlockId>(step));
      expected.emplace(bytes, address);
    } else if (!grow && there) {
      const auto place = blocks.find(bytes, address);
      const std::pair to{static_cast<std::int64_t>(random() % 40), static_cast<std::int64_t>(random() % 400)};
      expected.erase({bytes, address});
      if (random() % 3 == 0 && expected.insert(to).second)
        blocks.replace(place, to.first, to.second, static_cast<BlockId>(step));
      else
        blocks.erase(place);
    }
    const auto found = blocks.lower_bound(bytes, address);
    const auto wanted = expected.lower_bound({bytes, address});
    ASSERT_EQ(found == blocks.end(), wanted == expected.end());
    if (wanted != expected.end()) {
      ASSERT_EQ(blocks.at(found).address, wanted->second);
    }
  }
  auto at = blocks.begin();
  for (const auto& [bytes, address] : expected) {
    ASSERT_EQ(blocks.at(at).bytes, bytes);
    ASSERT_EQ(blocks.at(at).address, address);
    if (at != blocks.begin()) {
      EXPECT_EQ(blocks.after(blocks.before(at)), at);
    }
    at = blocks.after(at);
  }
  EXPECT_EQ(at, blocks.end());
}

TEST(FreeBlocks, LookingForWhatIsNotThereIsABug) {
  const FreeBlocks blocks;
  EXPECT_THROW(blocks.find(1, 1), InternalError);
}

}  // namespace
}  // namespace tidemark
