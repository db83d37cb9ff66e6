#include "base/release.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(Release, IsTheFirstTwoNumbersOfAVersion) {
  EXPECT_EQ(release_of("2.14.1+cu130"), (Release{2, 14}));
  EXPECT_EQ(release_of("2.6"), (Release{2, 6}));
  EXPECT_EQ(release_of("2.16.0.dev20261101"), (Release{2, 16}));
  EXPECT_LT(release_of("2.9.1"), release_of("2.11.0"));
}

TEST(Release, IsNothingOfAnotherText) {
  for (const char* text : {"", "2", "2.", "two.one", "2.x", "v2.11"}) EXPECT_FALSE(release_of(text)) << text;
}

TEST(Release, NearestIsTheOneAskedForOrBeforeIt) {
  const std::set<Release> known{{5, 17}, {5, 23}};
  EXPECT_EQ(nearest_release(known, Release{5, 17}), (Release{5, 17}));
  EXPECT_EQ(nearest_release(known, Release{5, 20}), (Release{5, 17}));
  EXPECT_EQ(nearest_release(known, Release{5, 30}), (Release{5, 23}));
  EXPECT_EQ(nearest_release(known, Release{4, 51}), (Release{5, 17}));
  EXPECT_EQ(nearest_release(known, std::nullopt), (Release{5, 23}));
  EXPECT_FALSE(nearest_release({}, Release{5, 17}));
}

TEST(Release, NearestIsOneOfTheSameFirstNumberIfThereIsOne) {
  const std::set<Release> known{{4, 57}, {5, 17}, {5, 23}};
  EXPECT_EQ(nearest_release(known, Release{5, 2}), (Release{5, 17}));
  EXPECT_EQ(nearest_release(known, Release{4, 40}), (Release{4, 57}));
  EXPECT_EQ(nearest_release(known, Release{4, 60}), (Release{4, 57}));
  EXPECT_EQ(nearest_release(known, Release{6, 0}), (Release{5, 23}));
  EXPECT_EQ(nearest_release(known, Release{3, 5}), (Release{4, 57}));
}

TEST(Release, OfThoseThatAreEqualTheNearestAnswers) {
  EXPECT_EQ(nearest_captured("5.23.0", "5.24.0 5.26.0", ""), "5.26.0");
  EXPECT_EQ(nearest_captured("5.23.0", "5.17.0", ""), "5.23.0");
  EXPECT_EQ(nearest_captured("5.23.0", "5.24.0 5.26.0", "5.24.1"), "5.24.0");
  EXPECT_EQ(nearest_captured("5.23.0", "5.24.0 5.26.0", "5.25.0"), "5.24.0");
  EXPECT_EQ(nearest_captured("5.23.0", "5.24.0 5.26.0", "6.0.0"), "5.26.0");
  EXPECT_EQ(nearest_captured("5.23.0", "5.24.0 5.26.0", "5.17.0"), "5.23.0");
  EXPECT_EQ(nearest_captured("5.23.0", "5.17.0 5.24.0", "5.20.0"), "5.17.0");
  EXPECT_EQ(nearest_captured("5.23.0", "", "5.24.0"), "5.23.0");
  for (const char* older : {"4.57.6", "4.57.1", "4.51.0"})
    EXPECT_EQ(nearest_captured("5.17.0", "4.57.6 5.23.0", older), "4.57.6");
  EXPECT_EQ(nearest_captured("5.17.0", "4.57.6 5.23.0", "5.2.0"), "5.17.0");
}

}  // namespace
}  // namespace tidemark
