#include "memory/free_blocks.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <tuple>

#include "base/check.h"

namespace tidemark {
namespace {

TEST(FreeBlocks, IsASortedSetAcrossManyChunks) {
  FreeBlocks blocks;
  std::map<std::tuple<std::int64_t, std::uint32_t, std::int64_t>, BlockId> expected;
  std::mt19937_64 random(7);
  const auto any = [&](int step) {
    return FreeBlocks::Entry{static_cast<std::int64_t>(random() % 40), static_cast<std::int64_t>(random() % 100),
                             static_cast<BlockId>(step), static_cast<std::uint32_t>(random() % 4)};
  };
  const auto key = [](const FreeBlocks::Entry& entry) { return std::tuple(entry.bytes, entry.age, entry.address); };
  for (int step = 0; step < 20000; ++step) {
    FreeBlocks::Entry entry = any(step);
    const bool there = expected.contains(key(entry));
    const bool grow = (step / 4000) % 2 == 0 ? random() % 3 != 0 : random() % 3 == 0;
    if (grow && !there) {
      blocks.insert(entry);
      expected.emplace(key(entry), entry.block);
    } else if (!grow && there) {
      entry.block = expected.at(key(entry));
      const auto place = blocks.find(entry);
      const FreeBlocks::Entry to = any(step);
      expected.erase(key(entry));
      if (random() % 3 == 0 && expected.emplace(key(to), to.block).second)
        blocks.replace(place, to);
      else
        blocks.erase(place);
    }
    const auto found = blocks.lower_bound(entry);
    const auto wanted = expected.lower_bound(key(entry));
    ASSERT_EQ(found == blocks.end(), wanted == expected.end());
    if (wanted != expected.end()) {
      ASSERT_EQ(key(blocks.at(found)), wanted->first);
    }
  }
  auto at = blocks.begin();
  for (const auto& [wanted, block] : expected) {
    ASSERT_EQ(key(blocks.at(at)), wanted);
    ASSERT_EQ(blocks.at(at).block, block);
    if (at != blocks.begin()) {
      EXPECT_EQ(blocks.after(blocks.before(at)), at);
    }
    at = blocks.after(at);
  }
  EXPECT_EQ(at, blocks.end());
}

TEST(FreeBlocks, LookingForWhatIsNotThereIsABug) {
  const FreeBlocks blocks;
  EXPECT_THROW(blocks.find({1, 1, 0, 0}), InternalError);
}

}  // namespace
}  // namespace tidemark
