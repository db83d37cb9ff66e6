#include "outcome.h"

#include <gtest/gtest.h>

#include "io/card_json.h"
#include "io/report_json.h"
#include "support/sample_card.h"
#include "support/sample_report.h"
#include "support/temporary_folder.h"
#include "support/throws.h"

namespace tidemark::cli {
namespace {

Report holding(std::int64_t reserved_bytes) {
  Report report = sample_report();
  report.peak.reserved_bytes = reserved_bytes;
  return report;
}

TEST(CollectReport, TakesTheProcessThatHeldMost) {
  const TemporaryFolder folder;
  folder.write("report-1.json", io::write_report(holding(5 * kGiB)));
  folder.write("report-2.json", io::write_report(holding(7 * kGiB)));
  folder.write("report-3.json.new", "half");
  EXPECT_EQ(collect_report(folder.path())->peak.reserved_bytes, 7 * kGiB);
}

TEST(CollectReport, TakesTheProcessThatRanOutFirst) {
  const TemporaryFolder folder;
  Report failed = holding(5 * kGiB);
  failed.oom = sample_oom();
  folder.write("report-1.json", io::write_report(failed));
  folder.write("report-2.json", io::write_report(holding(7 * kGiB)));
  EXPECT_TRUE(collect_report(folder.path())->oom);
}

TEST(CollectReport, PassesOverAHalfWrittenOne) {
  const TemporaryFolder folder;
  folder.write("report-1.json", "{\"schema\":");
  EXPECT_TRUE(error_of([&] { collect_report(folder.path()); }));
  folder.write("report-2.json", io::write_report(holding(7 * kGiB)));
  EXPECT_EQ(collect_report(folder.path())->peak.reserved_bytes, 7 * kGiB);
}

TEST(CollectReport, IsEmptyWithoutAny) {
  const TemporaryFolder folder;
  EXPECT_EQ(collect_report(folder.path()), std::nullopt);
}

TEST(CompleteReport, PutsTheCardIn) {
  Report report = holding(5 * kGiB);
  const Card card = io::read_card(sample_card_text(), "card");
  complete_report(report, card, {"python", "x.py"}, {0, 0, 2.5, 77}, {{"torch", "2.6.0"}});
  EXPECT_EQ(report.card.key, "test-24gb");
  EXPECT_EQ(report.peak.device_bytes, 5 * kGiB + 300'000'000 + 134'217'728);
  EXPECT_EQ(report.fits, true);
  EXPECT_EQ(report.versions.at("torch"), "2.11.0");  // the process knows better
}

TEST(ExitCodeFor, TellsAFailureFromAVerdict) {
  Report report = sample_report();
  EXPECT_EQ(exit_code_for(report, {}), 0);
  for (const int own : {1, 2, 3, 7, 70}) EXPECT_EQ(exit_code_for(report, {.exit_code = own}), kProgramFailed);
  EXPECT_EQ(exit_code_for(report, {.exit_code = 137, .signal = 9}), 137);
  report.fits = false;
  EXPECT_EQ(exit_code_for(report, {}), 1);
  report.fits.reset();
  EXPECT_EQ(exit_code_for(report, {}), 1);
  report.oom = sample_oom();
  EXPECT_EQ(exit_code_for(report, {.exit_code = 7}), 1);
}

}  // namespace
}  // namespace tidemark::cli
