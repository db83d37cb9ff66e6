#include "estimate/category_timeline.h"

#include <algorithm>

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

}  // namespace

std::vector<BytesByCategory> categories_over_time(const Run& run) {
  const std::vector<Change> changes = changes_of(run);
  std::vector<BytesByCategory> rows;
  BytesByCategory live{};
  auto next = changes.begin();
  for (const Timeline::Point& point : run.timeline().points()) {
    for (; next != changes.end() && next->event <= point.event + 1; ++next)
      live[static_cast<std::size_t>(next->category)] += next->bytes;
    rows.push_back(live);
  }
  return rows;
}

}  // namespace tidemark
