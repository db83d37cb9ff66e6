#include "io/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/value_json.h"

namespace tidemark::io {
namespace {

using testing::HasSubstr;

Comparison sample() {
  const std::vector<MemoryEvent> a{{512, false, "aten::mm", "m.0"}, {1024, false, "aten::add", "m.1"}};
  const std::vector<MemoryEvent> b{{512, false, "aten::mm", "m.0"}, {2048, false, "aten::add", "m.1"}};
  return compare(record_of(a, "a.txt"), record_of(b, "b.txt"));
}

TEST(Comparison, ShowsBothSidesOfTheFirstDifference) {
  EXPECT_EQ(comparison_to_text(sample()),
            "they differ\n"
            "  peak       a.txt  b.txt  difference\n"
            "  allocated  1,536  2,560      +1,024  +1.00 KiB\n"
            "  first difference, after 1 equal allocations: an allocation of 1,024 against one of 2,048\n"
            "  a.txt, event 2:\n"
            "      +512 aten::mm m.0\n"
            "    > +1024 aten::add m.1\n"
            "  b.txt, event 2:\n"
            "      +512 aten::mm m.0\n"
            "    > +2048 aten::add m.1\n");
}

TEST(Comparison, IsJsonToo) {
  const Value json = value_from_json(comparison_to_json(sample()), "json");
  EXPECT_EQ(*json.find("schema"), Value("tidemark.diff/1"));
  EXPECT_EQ(*json.find("same"), Value(false));
  EXPECT_EQ(*json.find("first_difference")->find("a")->find("event"), Value(1));
}

TEST(Comparison, SaysWhenNothingDiffers) {
  const MemoryRecord record = record_of({{512, false, "-", "-"}}, "a");
  const Comparison comparison = compare(record, record);
  EXPECT_THAT(comparison_to_text(comparison), HasSubstr("no difference\n"));
  EXPECT_THAT(comparison_to_text(comparison), HasSubstr("every event is the same"));
  EXPECT_EQ(*value_from_json(comparison_to_json(comparison), "json").find("first_difference"), Value());
}

}  // namespace
}  // namespace tidemark::io
