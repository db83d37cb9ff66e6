#include "estimate/category_timeline.h"

#include <gtest/gtest.h>

#include <numeric>

#include "estimate/asked.h"
#include "estimate/recorder.h"

namespace tidemark {
namespace {

Spec small_llama() {
  Spec spec;
  spec.model = Value::Map{{"model_type", "llama"}, {"hidden_size", 256}, {"intermediate_size", 512}, {"num_hidden_layers", 3},
                          {"num_attention_heads", 4}, {"vocab_size", 1000}};
  spec.batch = 2, spec.seq = 64, spec.steps = 5;
  return spec;
}

TEST(CategoriesOverTime, AddUpToWhatIsAllocated) {
  for (const bool interval : {false, true}) {
    std::vector<BytesByCategory> rows;
    const Spec spec = small_llama();
    const Report report = predict(spec, spec.model, card_with_room(), {.on_event = {}, .interval = interval, .categories = &rows});
    ASSERT_EQ(rows.size(), report.timeline.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_EQ(std::accumulate(rows[i].begin(), rows[i].end(), std::int64_t{0}), report.timeline[i].allocated_bytes) << "event " << report.timeline[i].event;
  }
}

TEST(CategoriesOverTime, AtThePeakAreTheReports) {
  std::vector<BytesByCategory> rows;
  const Spec spec = small_llama();
  const Report report = predict(spec, spec.model, card_with_room(), {.on_event = {}, .categories = &rows});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (report.timeline[i].allocated_bytes != report.peak.allocated_bytes) continue;
    for (const NamedBytes& row : report.at_peak.by_category)
      for (std::size_t number = 0; number < kCategories; ++number)
        if (row.name == name_of(static_cast<Category>(number))) EXPECT_EQ(rows[i][number], row.bytes) << row.name;
    return;
  }
  FAIL() << "the timeline has no point at the peak";
}

}  // namespace
}  // namespace tidemark
