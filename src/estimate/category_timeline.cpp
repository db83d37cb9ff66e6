#include "estimate/category_timeline.h"

#include <algorithm>
#include <array>

#include "estimate/recorder.h"

namespace tidemark {
namespace {

struct Change {
  std::int32_t event;  // counted from 1, as the ledger does
  Category category;
  std::int64_t bytes;
};

std::vector<Change> changes_of(const Run& run) {
  std::vector<Change> changes;
  changes.reserve(2 * run.ledger().size());
  for (const LedgerEntry& entry : run.ledger()) {
    changes.push_back({entry.born, entry.category, entry.bytes});
    if (entry.died != 0) changes.push_back({entry.died, entry.category, -entry.bytes});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.event < b.event; });
  return changes;
}

bool has_any(const CategoryOverTime& one) {
  return std::any_of(one.bytes.begin(), one.bytes.end(), [](std::int64_t bytes) { return bytes != 0; });
}

}  // namespace

std::vector<CategoryOverTime> categories_over_time(const Run& run) {
  const std::vector<Change> changes = changes_of(run);
  std::array<CategoryOverTime, kCategories> all;
  for (std::size_t i = 0; i < kCategories; ++i) all[i].name = name_of(static_cast<Category>(i));
  std::array<std::int64_t, kCategories> live{};
  auto next = changes.begin();
  for (const Timeline::Point& point : run.timeline().points()) {
    for (; next != changes.end() && next->event <= point.event + 1; ++next)
      live[static_cast<std::size_t>(next->category)] += next->bytes;
    for (std::size_t i = 0; i < kCategories; ++i) all[i].bytes.push_back(live[i]);
  }
  std::vector<CategoryOverTime> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found), has_any);
  return found;
}

}  // namespace tidemark
