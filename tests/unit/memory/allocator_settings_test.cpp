#include "memory/allocator_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

#include "support/block_sizes.h"

namespace tidemark {
namespace {

TEST(AllocatorSettings, DefaultsArePyTorchs) {
  const AllocatorSettings settings = parse_allocator_settings("");
  EXPECT_EQ(settings.max_split_bytes, AllocatorSettings::kUnlimited);
  EXPECT_EQ(settings.max_non_split_rounding_bytes, 20 * kMib);
  EXPECT_EQ(settings.large_segment_bytes, 20 * kMib);
  EXPECT_FALSE(settings.expandable_segments);
}

TEST(AllocatorSettings, ReadsSeveralWithWhiteSpace) {
  const AllocatorSettings settings = parse_allocator_settings(
      "max_split_size_mb: 64, "
      "garbage_collection_threshold:0.75,expandable_segments:True,pinned_num_register_threads:8");
  EXPECT_EQ(settings.max_split_bytes, 64 * kMib);
  EXPECT_EQ(settings.garbage_collection_threshold, 0.75);
  EXPECT_TRUE(settings.expandable_segments);
}

TEST(AllocatorSettings, LargeSegmentSizeCountsForTheOthersWhereverItStands) {
  const AllocatorSettings settings = parse_allocator_settings("max_split_size_mb:40,large_segment_size_mb:40");
  EXPECT_EQ(settings.max_non_split_rounding_bytes, 40 * kMib);
  EXPECT_THROW(parse_allocator_settings("max_split_size_mb:30,large_segment_size_mb:40"), Error);
}

TEST(AllocatorSettings, ListFillsBelowTheFirstAndAboveTheLast) {
  const auto divisions = parse_allocator_settings("roundup_power2_divisions:[4:2,16:8,>:1]").roundup_power2_divisions;
  EXPECT_THAT(divisions, testing::ElementsAre(2, 2, 2, 0, 8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
}

TEST(AllocatorSettings, InTorch26TheRestReplacesTheLastInterval) {
  const auto divisions =
      parse_allocator_settings("roundup_power2_divisions:[4:2,16:8,>:1]", allocator_rules("2.6.0+cu124"))
          .roundup_power2_divisions;
  EXPECT_THAT(divisions, testing::ElementsAre(2, 2, 2, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
}

struct RefusedCase {
  const char *name, *text, *torch;
  Errc code;
};

class Refused : public testing::TestWithParam<RefusedCase> {};

TEST_P(Refused, WithItsCode) {
  try {
    parse_allocator_settings(GetParam().text, allocator_rules(GetParam().torch));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), GetParam().code) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    AllocatorSettings, Refused,
    testing::Values(RefusedCase{"AsyncBackend", "backend:cudaMallocAsync", "2.11", Errc::unsupported},
                    RefusedCase{"TypingError", "max_split_size:64", "2.11", Errc::unknown_name},
                    RefusedCase{"NotYetIn26", "large_segment_size_mb:40", "2.6", Errc::unknown_name},
                    RefusedCase{"TooSmall", "max_split_size_mb:19", "2.11", Errc::usage},
                    RefusedCase{"TwentyIn26", "max_split_size_mb:20", "2.6", Errc::usage},
                    RefusedCase{"NotANumber", "max_split_size_mb:64MB", "2.11", Errc::usage},
                    RefusedCase{"Negative", "max_split_size_mb:-64", "2.11", Errc::usage},
                    RefusedCase{"NoValue", "max_split_size_mb:", "2.11", Errc::usage},
                    RefusedCase{"NoColon", "expandable_segments=True", "2.11", Errc::usage},
                    RefusedCase{"NotTrue", "expandable_segments:true", "2.11", Errc::usage},
                    RefusedCase{"ThresholdOfOne", "garbage_collection_threshold:1", "2.11", Errc::usage},
                    RefusedCase{"NotAPower", "roundup_power2_divisions:3", "2.11", Errc::usage},
                    RefusedCase{"Fraction", "per_process_memory_fraction:1.5", "2.11", Errc::usage},
                    RefusedCase{"OpenList", "roundup_power2_divisions:[4:2", "2.11", Errc::usage}),
    [](const auto& refused) { return refused.param.name; });

TEST(AllocatorSettings, HintsAtTheNearestKey) {
  try {
    parse_allocator_settings("max_split_size_mbs:64");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.hint(), "did you mean max_split_size_mb?");
  }
}

TEST(AllocatorRules, AnOlderReleaseThatWasNotComparedIsRefused) {
  EXPECT_THROW(allocator_rules("1.13.1"), Error);
  EXPECT_THROW(allocator_rules("2.9.1"), Error);
}

TEST(AllocatorRules, ANewerReleaseHasThoseOfTheNewestOne) { EXPECT_EQ(allocator_rules("2.99.0").torch, "2.15"); }

TEST(AllocatorRules, SettingsCameWithReleases) {
  EXPECT_THROW(parse_allocator_settings("pinned_max_cached_size_mb:1", allocator_rules("2.12.1")), Error);
  EXPECT_NO_THROW(
      parse_allocator_settings("pinned_max_cached_size_mb:1,throw_on_cudamalloc_oom:False", allocator_rules("2.13.0")));
  EXPECT_THROW(parse_allocator_settings("throw_on_cudamalloc_oom:True", allocator_rules("2.15.0")), Error);
}

}  // namespace
}  // namespace tidemark
