#include "estimate/compare.h"

#include <gtest/gtest.h>

#include "support/sample_report.h"

namespace tidemark {
namespace {

// "+8 -8 +16" with operations o0, o1, …
std::vector<MemoryEvent> events(std::initializer_list<std::int64_t> sizes) {
  std::vector<MemoryEvent> list;
  for (std::int64_t size : sizes) list.push_back({std::abs(size), size < 0, "o" + std::to_string(list.size()), "m"});
  return list;
}

std::optional<Divergence> difference(std::initializer_list<std::int64_t> a, std::initializer_list<std::int64_t> b,
                                     bool names = false) {
  return compare(record_of(events(a), "a"), record_of(events(b), "b"), {names}).divergence;
}

TEST(CompareEvents, EqualSequencesAreEqual) {
  EXPECT_FALSE(difference({}, {}));
  EXPECT_FALSE(difference({8, 16, -8, 32, -16}, {8, 16, -8, 32, -16}, true));
}

TEST(CompareEvents, TheOrderOfFreesBetweenAllocationsIsFree) {
  EXPECT_FALSE(difference({8, 16, 32, -8, -16, 64}, {8, 16, 32, -16, -8, 64}));
  EXPECT_TRUE(difference({8, 16, 32, -8, 64, -16}, {8, 16, 32, -16, 64, -8}));
}

TEST(CompareEvents, FindsTheFirstAllocationThatDiffers) {
  const auto found = difference({8, 16, -8, 32, 64}, {8, 16, -8, 33, 65});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, "an allocation of 32 against one of 33");
  EXPECT_EQ(found->equal_allocations, 2);
  EXPECT_EQ(found->a, 3U);
  EXPECT_EQ(found->b, 3U);
  EXPECT_EQ(found->first_a, 0U);
  EXPECT_EQ(found->around_a.size(), 5U);
}

TEST(CompareEvents, ShowsThreeEventsAround) {
  const auto found = difference({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {1, 2, 3, 4, 5, 60, 7, 8, 9, 10});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first_a, 2U);
  EXPECT_EQ(found->around_a.size(), 7U);
}

TEST(CompareEvents, FindsAFreeThatOneHasAlone) {
  const auto found = difference({8, 16, -8, -16, 32}, {8, 16, -8, 32});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, "a free that only one of them has");
  EXPECT_EQ(found->a, 3U);
  EXPECT_EQ(found->b, 3U);
  EXPECT_EQ(difference({8, 16, -8, 32}, {8, 16, -16, 32})->what, "frees of other sizes");
}

TEST(CompareEvents, FindsTheEnd) {
  const auto found = difference({8, 16}, {8});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, "one has ended, the other goes on");
  EXPECT_EQ(found->a, 1U);
  EXPECT_FALSE(found->b);
}

TEST(CompareEvents, ComparesNamesWhenAsked) {
  auto a = events({8, 16, -8}), b = a;
  b[1].module = "other";
  EXPECT_FALSE(compare(record_of(a, "a"), record_of(b, "b")).divergence);
  const auto found = compare(record_of(a, "a"), record_of(b, "b"), {.names = true}).divergence;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->what, "an allocation of another operation or module");
}

TEST(CompareEvents, TakesABlockForItsRequest) {
  MemoryRecord requests = record_of(events({700, 2000, -700, 5'000'000}), "requests");
  requests.events_are_requests = true;
  const auto against = [&](std::initializer_list<std::int64_t> blocks) {
    return compare(requests, record_of(events(blocks), "blocks")).divergence.has_value();
  };
  EXPECT_FALSE(against({1024, 2048, -1024, 5'767'168}));
  EXPECT_TRUE(against({512, 2048, -512, 5'767'168}));
  EXPECT_TRUE(against({1024, 2048, -1024, 8'000'000}));
  EXPECT_TRUE(against({1024, 2048, 5'767'168, -1024}));
}

TEST(RecordOf, AddsEventsUp) { EXPECT_EQ(record_of(events({8, 16, -8, 4}), "a").allocated_bytes, 24); }

TEST(CompareReports, AReportEqualsItself) {
  const MemoryRecord record = record_of(sample_report(), "r.json");
  const Comparison comparison = compare(record, record);
  EXPECT_TRUE(comparison.same());
  EXPECT_TRUE(comparison.compared_steps);
  EXPECT_FALSE(comparison.compared_events);
  EXPECT_EQ(comparison.totals.size(), 4U);
  EXPECT_EQ(comparison.categories[0].name, "activations");
  EXPECT_EQ(comparison.categories.size(), 3U);  // workspace is empty in both
}

TEST(CompareReports, NamesThePhaseThatDiffers) {
  Report other = sample_report();
  other.timeline.clear();
  other.steps[0].phases[1].peak_allocated_bytes += 512;
  const Comparison comparison = compare(record_of(sample_report(), "a"), record_of(other, "b"));
  ASSERT_TRUE(comparison.divergence);
  EXPECT_EQ(comparison.divergence->what, "step 1, backward: peak allocated 53,687,091,200 against 53,687,091,712");
}

TEST(CompareReports, NamesTheStretchOfTheTimeline) {
  Report other = sample_report();
  other.timeline[1].allocated_bytes -= 512;
  const Comparison comparison = compare(record_of(sample_report(), "a"), record_of(other, "b"));
  ASSERT_TRUE(comparison.divergence);
  EXPECT_EQ(comparison.divergence->what,
            "between events 0 and 10 (step 1, backward): allocated 64,424,509,440 against 64,424,508,928");
}

TEST(CompareReports, SaysWhatIsMissing) {
  Report other = sample_report();
  other.steps.clear();
  const Comparison comparison = compare(record_of(other, "a.json"), record_of(events({8}), "b.txt"));
  ASSERT_EQ(comparison.notes.size(), 1U);
  EXPECT_EQ(comparison.notes[0].substr(0, 33), "a.json has no list of events; `ti");
  EXPECT_FALSE(comparison.divergence);
  EXPECT_FALSE(comparison.same());  // allocated differs
}

TEST(CompareReports, AddsUpCategoriesThatOnlyOneHas) {
  Report other = sample_report();
  other.at_peak.by_category = {{"activations", 30 * kGiB}, {"communication", 5}};
  const Comparison comparison = compare(record_of(sample_report(), "a"), record_of(other, "b"));
  const auto& last = comparison.categories.back();
  EXPECT_EQ(last.name, "communication");
  EXPECT_EQ(last.a, 0);
  EXPECT_EQ(last.b, 5);
}

}  // namespace
}  // namespace tidemark
