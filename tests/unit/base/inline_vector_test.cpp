#include "base/inline_vector.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace tidemark {
namespace {

using Strings = InlineVector<std::string, 2>;

TEST(InlineVector, GrowsPastWhatItHoldsInside) {
  Strings strings;
  for (int i = 0; i < 9; ++i) strings.push_back(std::string(40, static_cast<char>('a' + i)));
  ASSERT_EQ(strings.size(), 9U);
  EXPECT_EQ(strings[8], std::string(40, 'i'));
}

TEST(InlineVector, MovesAndCopiesInsideAndOnTheHeap) {
  for (int count : {0, 1, 2, 3, 7}) {
    Strings strings;
    for (int i = 0; i < count; ++i) strings.push_back(std::to_string(i));
    const Strings copy = strings;
    const Strings moved = std::move(strings);
    ASSERT_EQ(moved.size(), copy.size());
    EXPECT_EQ(strings.size(), 0U);
    for (std::size_t i = 0; i < copy.size(); ++i) EXPECT_EQ(copy[i], moved[i]);
    strings = copy;
    EXPECT_EQ(strings.size(), copy.size());
  }
}

TEST(InlineVector, DestroysWhatItHeld) {
  const auto shared = std::make_shared<int>(1);
  {
    InlineVector<std::shared_ptr<int>, 2> vector;
    for (int i = 0; i < 5; ++i) vector.push_back(shared);
    vector.resize(3);
    EXPECT_EQ(shared.use_count(), 4);
    vector.clear();
    EXPECT_EQ(shared.use_count(), 1);
    vector.push_back(shared);
  }
  EXPECT_EQ(shared.use_count(), 1);
}

}  // namespace
}  // namespace tidemark
