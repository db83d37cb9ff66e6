#include "estimate/releases.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(Releases, TheNewestAnswersWhenNothingIsSaid) {
  EXPECT_EQ(known_torch("").version, "2.15.0");
  EXPECT_EQ(known_torch("").assumption, "");
}

TEST(Releases, AKnownOneIsItselfWhicheverBuildItIs) {
  for (const char* build : {"2.11.0", "2.11.0+cu130", "2.11"}) {
    EXPECT_EQ(known_torch(build).version, "2.11.0") << build;
    EXPECT_EQ(known_torch(build).assumption, "") << build;
  }
}

TEST(Releases, OfTorchAPatchIsItsRelease) {
  EXPECT_EQ(known_torch("2.14.0").version, "2.14.1");
  EXPECT_NE(known_torch("2.14.0").assumption.find("a third of its steps have been recorded"), std::string::npos);
  EXPECT_EQ(known_torch("2.11.1").assumption, "");
  EXPECT_NE(known_torch("2.15.1.dev20270101").assumption, "");
}

TEST(Releases, TheNearestKnownOneAnswersForAnotherAndSaysSo) {
  const std::string newest = "2.15.0";
  EXPECT_EQ(known_torch("99.0.1").version, newest);
  EXPECT_EQ(known_torch("99.0.1").assumption,
            "torch 99.0.1 has not been compared with predictions: it is taken for " + newest + ", the newest that has");
  EXPECT_NE(known_torch("1.13.1").assumption.find("the nearest that has"), std::string::npos);
  EXPECT_NE(known_torch(newest + ".dev20300101+cu140").assumption, "");
}

TEST(Releases, AProgramAnswersForOthersThanItsOwnAndSaysSo) {
  for (const char* asked : {"", "5.23.0"})
    EXPECT_EQ(captured_transformers("5.23.0", "", asked).assumption, "") << asked;
  EXPECT_EQ(captured_transformers("5.23.0", "", "5.24.0").assumption,
            "transformers 5.24.0 has not been compared with predictions: it is taken for 5.23.0, the newest that has");
  EXPECT_NE(captured_transformers("5.23.0", "5.24.0", "5.10.0").assumption.find("the nearest that has"),
            std::string::npos);
}

TEST(Releases, AProgramThatIsEqualOnAReleaseAnswersForIt) {
  for (const char* asked : {"5.24.0", "5.25.0", "5.25.0+local"}) {
    const KnownRelease known = captured_transformers("5.23.0", "5.24.0 5.25.0", asked);
    EXPECT_EQ(known.assumption, "") << asked;
    EXPECT_EQ(known.version, std::string_view(asked).substr(0, 6));
  }
  EXPECT_EQ(captured_transformers("5.23.0", "5.24.0 5.25.0", "").version, "5.25.0");
  EXPECT_EQ(captured_transformers("5.23.0", "5.24.0 5.25.0", "5.26.0").assumption,
            "transformers 5.26.0 has not been compared with predictions: it is taken for 5.25.0, the newest that has");
  EXPECT_EQ(captured_transformers("5.23.0", "5.21.0 5.24.0", "5.22.0").assumption,
            "transformers 5.22.0 has not been compared with predictions: it is taken for 5.21.0, the nearest that has");
  EXPECT_EQ(captured_transformers("5.23.0", "5.24.0", "5.23.0").version, "5.23.0");
  const KnownRelease older = captured_transformers("5.23.0", "5.17.0 5.24.0", "5.17.0");
  EXPECT_EQ(older.version + older.assumption, "5.17.0");
}

TEST(Releases, WhatAVersionLooksLike) {
  for (const char* version : {"2.11", "2.11.0", "2.12.0.dev20260101+cu130", "2.12.0a0+git123", "5.0.0rc1"})
    EXPECT_TRUE(is_version(version)) << version;
  for (const char* text : {"", "2", "latest", "2.x", "2.11.", "2.-1", "v2.11", "2.11 0"})
    EXPECT_FALSE(is_version(text)) << text;
}

}  // namespace
}  // namespace tidemark
