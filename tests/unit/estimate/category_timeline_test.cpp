#include "estimate/category_timeline.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "estimate/asked.h"
#include "estimate/recorder.h"

namespace tidemark {
namespace {

Spec small_llama() {
  Spec spec;
  spec.model = Value::Map{{"model_type", "llama"},  {"hidden_size", 256},       {"intermediate_size", 512},
                          {"num_hidden_layers", 3}, {"num_attention_heads", 4}, {"vocab_size", 1000}};
  spec.batch = 2, spec.seq = 64, spec.steps = 5;
  return spec;
}

Report with_categories(bool interval) {
  return predicted(small_llama(), {.on_event = {}, .interval = interval, .is_read = true});
}

TEST(CategoriesOverTime, AddUpToWhatIsAllocated) {
  for (const bool interval : {false, true}) {
    const Report report = with_categories(interval);
    ASSERT_GT(report.timeline_by_category.size(), 3U);
    for (std::size_t i = 0; i < report.timeline.size(); ++i) {
      std::int64_t sum = 0;
      for (const CategoryOverTime& one : report.timeline_by_category) sum += one.bytes.at(i);
      EXPECT_EQ(sum, report.timeline[i].allocated_bytes) << "event " << report.timeline[i].event;
    }
  }
}

TEST(CategoriesOverTime, AtThePeakAreTheReports) {
  const Report report = with_categories(true);
  for (std::size_t i = 0; i < report.timeline.size(); ++i) {
    if (report.timeline[i].allocated_bytes != report.peak.allocated_bytes) continue;
    std::map<std::string, std::int64_t> at_peak, over_time;
    for (const NamedBytes& row : report.at_peak.by_category) at_peak[row.name] += row.bytes;
    for (const CategoryOverTime& one : report.timeline_by_category)
      if (one.bytes[i] != 0) over_time[one.name] = one.bytes[i];
    EXPECT_EQ(over_time, at_peak);
    return;
  }
  FAIL() << "the timeline has no point at the peak";
}

TEST(CategoriesOverTime, AreToldWhereTheyAreAskedFor) {
  const Spec spec = small_llama();
  EXPECT_TRUE(predicted(spec).timeline_by_category.empty());
}

}  // namespace
}  // namespace tidemark
