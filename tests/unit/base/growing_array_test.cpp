#include "base/growing_array.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

struct Plain {
  int number = 7;
  const char* name = "";
};

TEST(GrowingArray, KeepsWhatIsInItAsItGrows) {
  GrowingArray<Plain> array;
  EXPECT_EQ(array.begin(), array.end());
  for (int i = 0; i < 100'000; ++i) EXPECT_EQ(array.push_back({i, "each"}).number, i);
  ASSERT_EQ(array.size(), 100'000U);
  int next = 0;
  for (const Plain& one : array) ASSERT_EQ(one.number, next++);
  EXPECT_EQ(array[99'999].number, array.back().number);
}

TEST(GrowingArray, TakesACopyOfOneOfItsOwn) {
  GrowingArray<Plain> array;
  array.reserve(1);
  array.push_back({5, "first"});
  for (int i = 0; i < 1000; ++i) array.push_back(array[0]);
  EXPECT_EQ(array.back().number, 5);
  EXPECT_STREQ(array.back().name, "first");
}

}  // namespace
}  // namespace tidemark
