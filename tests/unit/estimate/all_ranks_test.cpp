#include "estimate/all_ranks.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tidemark {
namespace {

Report holding(std::int64_t reserved_bytes) {
  Report report;
  report.peak.reserved_bytes = reserved_bytes;
  return report;
}

TEST(AllRanks, AreReportedByTheOneThatHoldsMost) {
  AllRanks all;
  for (const auto& [rank, reserved_bytes] : {std::pair{2, 4}, {0, 1}, {1, 5}, {3, 5}}) {
    Report report = holding(reserved_bytes);
    report.verdict = std::to_string(rank);
    all.add(rank, std::move(report));
  }
  const Report report = all.finish();
  EXPECT_EQ(report.verdict, "1");
  ASSERT_EQ(report.ranks.size(), 4U);
  EXPECT_EQ(report.ranks[2].rank, 2);
  EXPECT_EQ(report.ranks[2].peak.reserved_bytes, 4);
}

TEST(AllRanks, OneThatIsOutOfMemoryHoldsMost) {
  AllRanks all;
  all.add(0, holding(5));
  Report full = holding(4);
  full.oom.emplace();
  all.add(1, full);
  all.add(2, holding(6));
  EXPECT_TRUE(all.finish().oom);
}

}  // namespace
}  // namespace tidemark
