#include "estimate/verdict.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/sample_report.h"

namespace tidemark {
namespace {

TEST(Judge, AddsContextAndDriverToReserved) {
  const Report report = sample_report();
  EXPECT_EQ(report.peak.device_bytes, 61 * kGiB + kGiB / 2 + kGiB / 8);
  EXPECT_EQ(report.fits, true);
  EXPECT_EQ(report.verdict, "fits: peak 61.6 GiB of 80.0 GiB, 18.4 GiB free");
}

TEST(Judge, FitsToTheLastByteAndNotOneMore) {
  Report report = sample_report();
  report.card.total_bytes = report.peak.device_bytes;
  judge(report);
  EXPECT_EQ(report.fits, true);
  --report.card.total_bytes;
  judge(report);
  EXPECT_EQ(report.fits, false);
  EXPECT_EQ(report.verdict, "does not fit: peak 61.6 GiB of 61.6 GiB, 1 B too much");
}

TEST(Judge, WindowsGoesOnBeyondTheCard) {
  Report report = sample_report();
  report.card.total_bytes = report.peak.device_bytes - kGiB;
  report.card.wddm = true;
  judge(report);
  EXPECT_EQ(report.fits, false);
  EXPECT_EQ(report.verdict,
            "does not fit: peak 61.6 GiB of 60.6 GiB, 1.00 GiB too much, which Windows keeps in host memory: the "
            "training goes on, slowly");
}

TEST(Judge, EngineServesWhatCacheAndBatchAllow) {
  Report report = sample_report();
  report.serving = sample_serving();
  judge(report);
  EXPECT_EQ(report.verdict,
            "fits: starts and serves 16 sequences of 4,096 tokens, peak 61.6 GiB of 80.0 GiB, 18.4 GiB free");
  report.serving->most_sequences = 1;
  judge(report);
  EXPECT_EQ(report.verdict,
            "fits: starts and serves 1 sequence of 4,096 tokens, peak 61.6 GiB of 80.0 GiB, 18.4 GiB free");
}

TEST(Judge, RefusalOfAnEngineIsTheVerdict) {
  Report report = sample_report();
  report.script.exit_code = 1;
  ServingReport& serving = report.serving.emplace();
  serving.engine = "vLLM";
  serving.refusal = "no room";
  serving.for_memory = true;
  judge(report);
  EXPECT_EQ(report.verdict, "does not start: vLLM refuses: no room");
  EXPECT_EQ(report.fits, false);
  report.serving->for_memory = false;
  judge(report);
  EXPECT_EQ(report.fits, std::nullopt);
}

TEST(Judge, UnmappedMemoryIsNotOnTheDevice) {
  Report report = sample_report();
  report.interval = Interval{60 * kGiB, 60 * kGiB, 61 * kGiB, 62 * kGiB, "addresses"};
  report.peak.physical_bytes = 41 * kGiB;
  judge(report);
  EXPECT_EQ(report.peak.device_bytes, 41 * kGiB + kGiB / 2 + kGiB / 8);
  EXPECT_EQ(report.fits, true);
  report.peak.physical_bytes = 62 * kGiB;  // pages of the driver may round it up
  judge(report);
  EXPECT_EQ(report.peak.device_bytes, 61 * kGiB + kGiB / 2 + kGiB / 8);
}

TEST(Judge, NamesTheAllocationThatFailed) {
  Report report = sample_report();
  report.oom = sample_oom();
  judge(report);
  EXPECT_EQ(report.fits, false);
  EXPECT_EQ(report.verdict,
            "does not fit: out of memory at step 1, backward, asking for 2.00 GiB with 78.0 GiB of 80.0 GiB in use");
}

TEST(Judge, OutOfMemoryWhileLoadingHasNoStep) {
  Report report = sample_report();
  report.oom = sample_oom();
  report.oom->step = 0;
  report.oom->in_use_bytes.reset();
  judge(report);
  EXPECT_EQ(
      report.verdict,
      "does not fit: out of memory before the first step, asking for 2.00 GiB with a peak of 61.6 GiB of 80.0 GiB");
}

TEST(Judge, NamesTheBoundsWhenTheyStraddle) {
  Report report = sample_report();
  report.card.total_bytes = 62 * kGiB;
  report.interval = Interval{60 * kGiB, 60 * kGiB, 61 * kGiB, 63 * kGiB, "the order of addresses"};
  judge(report);
  EXPECT_EQ(report.fits, std::nullopt);
  EXPECT_EQ(report.verdict, "may not fit: peak between 61.6 GiB and 63.6 GiB of 62.0 GiB (the order of addresses)");
}

TEST(Judge, IgnoresAnIntervalOnOneSideOfTheLimit) {
  Report report = sample_report();
  report.interval = Interval{60 * kGiB, 60 * kGiB, 61 * kGiB, 63 * kGiB, "the order of addresses"};
  judge(report);
  EXPECT_EQ(report.fits, true);
}

TEST(Judge, RefusesNumbersThatDoNotAddUp) {
  Report report = sample_report();
  report.peak.reserved_bytes = INT64_MAX;
  EXPECT_THROW(judge(report), Error);
}

TEST(Judge, SaysAtLeastWhereBatchesVariedUntilTheProgramWasStopped) {
  Report report = sample_report();
  report.varying_inputs = {{"input_ids", 3, {4, 212}, {4, 980}}, {"mask", 2, {8}, {9}}};
  judge(report);
  EXPECT_EQ(report.verdict, "fits so far: peak at least 61.6 GiB of 80.0 GiB, 18.4 GiB free");
  EXPECT_EQ(varying_line(report),
            "stopped after 2 steps, while batches varied: input_ids 4x212 to 4x980 (3 shapes), mask 8 to 9 (2 shapes); "
            "--data all answers for the whole epoch");
  report.card.total_bytes = 60 * kGiB;
  judge(report);
  EXPECT_EQ(report.verdict, "does not fit: peak at least 61.6 GiB of 60.0 GiB, 1.62 GiB too much");
}

TEST(Judge, HasSeenAllBatchesOfAProgramThatEnded) {
  Report report = sample_report();
  report.varying_inputs = {{"input_ids", 3, {4, 212}, {4, 980}}};
  report.script.stopped_after_steps.reset();
  judge(report);
  EXPECT_EQ(report.verdict, "fits: peak 61.6 GiB of 80.0 GiB, 18.4 GiB free");
  EXPECT_EQ(varying_line(report), "batches varied: input_ids 4x212 to 4x980 (3 shapes)");
}

TEST(Judge, SaysWhatAnEpochsPeakIsThatOf) {
  Report report = sample_report();
  report.varying_inputs = {{"input_ids", 3, {4, 212}, {4, 980}}};
  const DrawnInput ids{"input_ids", 90, {4, 212}, {4, 400}, {4, 900}, {4, 980}};
  DrawnInput labels = ids, pixels{"pixels", 2, {8}, {8}, {9}, {9}};
  labels.name = "labels";
  report.data = DataReport{1500, 64, 1, true, "", true, {ids, labels, pixels}};
  judge(report);
  EXPECT_EQ(report.verdict, "fits: peak 61.6 GiB of 80.0 GiB, 18.4 GiB free");
  EXPECT_EQ(
      data_line(*report.data),
      "an epoch of 1500 batches, 64 trained on, the others replayed: the peak of them all; input_ids 4x212 to 4x980 "
      "(median 4x400, 90 % up to 4x900, 90 shapes), pixels 8 to 9 (median 8, 90 % up to 9, 2 shapes)");
  report.data = DataReport{1500, 64, 1, false, "it is so", true, {}};
  judge(report);
  EXPECT_EQ(report.verdict, "fits so far: peak at least 61.6 GiB of 80.0 GiB, 18.4 GiB free");
  EXPECT_EQ(data_line(*report.data),
            "an epoch of 1500 batches, 64 trained on, the largest among them; the others may need more: it is so");
  EXPECT_EQ(data_line(DataReport{6, 6, 1, true, "", true, {}}), "an epoch of 6 batches, 6 trained on");
}

TEST(Judge, TellsWhatCompilingAdds) {
  Peak peak;
  peak.allocated_bytes = 1000, peak.reserved_bytes = 2000;
  EXPECT_EQ(
      compiling_line({2, 3000, 5000}, peak),
      "the peak of later steps and runs; this one compiled 2 graphs, which adds 2,000 allocated, 3,000 reserved: 3,000 and 5,000");
}

TEST(Judge, SaysNothingOfAProgramThatFailed) {
  Report report;
  report.card.total_bytes = 10;
  report.peak.reserved_bytes = 4;
  report.script.exit_code = 3;
  judge(report);
  EXPECT_FALSE(report.fits.has_value());
  EXPECT_EQ(report.verdict, "not known: the program ended with exit code 3; until then its peak was 4 B of 10 B");
}

}  // namespace
}  // namespace tidemark
