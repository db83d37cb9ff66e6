#include "base/did_you_mean.h"

#include <gtest/gtest.h>

#include <vector>

namespace tidemark {
namespace {

const std::vector<std::string>& cards() {
  static const std::vector<std::string> names{"h100-80gb", "a100-40gb", "a100-80gb", "rtx-4090", "t4"};
  return names;
}

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("abc", "abc"), 0);
  EXPECT_EQ(edit_distance("abc", "ABC"), 0);  // case is no edit
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("form", "from"), 1);  // neighbours swapped
}

TEST(NearestName, FindsTypingErrors) {
  EXPECT_EQ(nearest_name("h100-80g", cards()), "h100-80gb");
  EXPECT_EQ(nearest_name("a100-400gb", cards()), "a100-40gb");
  EXPECT_EQ(nearest_name("rxt-4090", cards()), "rtx-4090");
}

TEST(NearestName, CompletesShortenedNames) {
  EXPECT_EQ(nearest_name("h100", cards()), "h100-80gb");
  EXPECT_EQ(nearest_name("4090", cards()), "rtx-4090");
}

TEST(NearestName, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("radeon-7900-xtx", cards()), std::nullopt);
  EXPECT_EQ(nearest_name("x", std::vector<std::string>{}), std::nullopt);
}

TEST(DidYouMean, AsksOrIsEmpty) {
  EXPECT_EQ(did_you_mean("h10-80gb", cards()), "did you mean h100-80gb?");
  EXPECT_EQ(did_you_mean("something else", cards()), "");
}

}  // namespace
}  // namespace tidemark
