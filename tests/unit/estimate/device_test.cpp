#include "estimate/device.h"

#include <gtest/gtest.h>

#include "estimate/communicators.h"
#include "estimate/verdict.h"
#include "support/device_memory.h"

namespace tidemark {
namespace {

Card sample() {
  Card card;
  card.key = card.name = "card";
  card.total_bytes = 1000;
  card.driver_reserved_bytes = 7;
  card.context_bytes = {100, 110, 130};
  card.link.kind = "nvlink";
  card.beside = sample_device_memory();
  return card;
}

TEST(DeviceAccount, AddsUpToThePeak) {
  Report report;
  report.peak.reserved_bytes = 500;
  report.communicators = {{{"world", {0, 1}, false, true, 0}, {}}};
  account_for_device(report, sample());
  judge(report);
  const std::int64_t communicator = 28 + 24;
  EXPECT_EQ(report.communicators[0].bytes.typical, communicator);
  EXPECT_EQ(report.peak.device_bytes, 500 + 110 + 20 + communicator + 7);
  ASSERT_EQ(report.device.size(), 4U);
  EXPECT_EQ(report.device[2].name, "communicators");
  EXPECT_EQ(report.card.context_bytes, 110);
  EXPECT_EQ(taken_at_start_bytes(sample()), 130);
  EXPECT_EQ(taken_by({report.communicators[0].communicator}, sample()), communicator);
}

TEST(DeviceAccount, LeavesTheVerdictOpenBetweenItsEnds) {
  Report report;
  account_for_device(report, sample());
  const auto judged = [&](std::int64_t reserved) {
    report.peak.reserved_bytes = reserved;
    judge(report);
    return report.fits;
  };
  EXPECT_EQ(judged(1000 - 130 - 40 - 7), true);
  EXPECT_EQ(judged(1000 - 130 - 40 - 7 + 1), std::nullopt);
  EXPECT_EQ(report.verdict,
            "may not fit: peak between 936 B and 1001 B of 1000 B (context 100 B to 130 B; libraries 5 B to 40 B)");
  EXPECT_EQ(judged(1000 - 100 - 5 - 7), std::nullopt);
  EXPECT_EQ(judged(1000 - 100 - 5 - 7 + 1), false);
}

Spec spec_of_gpus(std::int64_t gpus, Parallel parallel) {
  Spec spec;
  spec.gpus = gpus;
  spec.parallel = parallel;
  return spec;
}

TEST(CommunicatorsOf, AreNoneOnOneGpu) { EXPECT_TRUE(communicators_of(spec_of_gpus(1, Parallel::none)).empty()); }

TEST(CommunicatorsOf, AMeshHasOneForEachDimension) {
  Spec spec = spec_of_gpus(16, Parallel::fsdp2);
  spec.rank = 11;
  spec.gpus_per_node = 8;
  spec.tp = TpSpec{.degree = 2, .plan = {}};
  spec.fsdp2 = Fsdp2Spec{.data_parallel_replicate_degree = 2};
  std::vector<std::pair<std::vector<std::int64_t>, bool>> found;
  for (const Communicator& one : communicators_of(spec))
    if (one.ranks.size() < 16) found.emplace_back(one.ranks, one.across_nodes);
  const std::vector<std::pair<std::vector<std::int64_t>, bool>> expected{
      {{10, 11}, false}, {{9, 11, 13, 15}, false}, {{3, 11}, true}};
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace tidemark
