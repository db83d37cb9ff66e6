#include "memory/size_classes.h"

#include <gtest/gtest.h>

#include "support/block_sizes.h"

namespace tidemark {
namespace {

struct RoundingCase {
  const char* name;
  const char* settings;
  std::int64_t requested, block;
};

class Rounding : public testing::TestWithParam<RoundingCase> {};

TEST_P(Rounding, GivesTheBlock) {
  const auto& [name, text, requested, block] = GetParam();
  EXPECT_EQ(round_size(requested, parse_allocator_settings(text)), block);
}

INSTANTIATE_TEST_SUITE_P(
    SizeClasses, Rounding,
    testing::Values(
        RoundingCase{"OneByte", "", 1, 512}, RoundingCase{"Exact", "", 512, 512},
        RoundingCase{"OneMore", "", 513, 1024}, RoundingCase{"OneMib", "", kMib, kMib},
        RoundingCase{"LargeOneMore", "", 10 * kMib + 1, 10 * kMib + 512},
        // 1024, 1280, 1536, 1792, 2048: quarters, but only above 512 * divisions
        RoundingCase{"QuartersTooSmall", "roundup_power2_divisions:4", 2048, 2048},
        RoundingCase{"Quarters", "roundup_power2_divisions:4", 2049, 2560},
        RoundingCase{"QuartersOfAMib", "roundup_power2_divisions:4", kMib + 1, kMib + kMib / 4},
        RoundingCase{"PowerOfTwoStays", "roundup_power2_divisions:4", 4 * kMib, 4 * kMib},
        RoundingCase{"OneDivisionIsNone", "roundup_power2_divisions:1", 3000, 3072},
        RoundingCase{"ListBelowFirst", "roundup_power2_divisions:[16:4,64:8]", 3 * kMib + 1, 3 * kMib + kMib / 2},
        RoundingCase{"ListGapHasNone", "roundup_power2_divisions:[16:4,64:8]", 33 * kMib + 1, 33 * kMib + 512},
        RoundingCase{"ListRest", "roundup_power2_divisions:[16:4,>:2]", 33 * kMib, 48 * kMib}),
    [](const auto& rounding) { return rounding.param.name; });

TEST(SizeClasses, SegmentsBySizeOfTheBlock) {
  const AllocatorSettings settings;
  EXPECT_EQ(segment_size(512, settings), 2 * kMib);
  EXPECT_EQ(segment_size(kMib, settings), 2 * kMib);
  EXPECT_EQ(segment_size(kMib + 512, settings), 20 * kMib);
  EXPECT_EQ(segment_size(10 * kMib - 512, settings), 20 * kMib);
  EXPECT_EQ(segment_size(10 * kMib, settings), 10 * kMib);
  EXPECT_EQ(segment_size(10 * kMib + 512, settings), 12 * kMib);
}

}  // namespace
}  // namespace tidemark
