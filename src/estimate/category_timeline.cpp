#include "estimate/category_timeline.h"

#include <algorithm>
#include <array>

#include "estimate/recorder.h"

namespace tidemark {
namespace {

using Points = std::vector<Timeline::Point>;

/// For each event, counted from 1 as the ledger does, the first point that comes after it.
std::vector<std::size_t> first_points(const Points& points) {
  std::vector<std::size_t> first(points.empty() ? 0 : static_cast<std::size_t>(points.back().event) + 2);
  std::size_t event = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    while (event <= static_cast<std::size_t>(points[i].event) + 1) first[event++] = i;
  return first;
}

bool has_any(const CategoryOverTime& one) {
  return std::any_of(one.bytes.begin(), one.bytes.end(), [](std::int64_t bytes) { return bytes != 0; });
}

}  // namespace

std::vector<CategoryOverTime> categories_over_time(const Run& run) {
  const Points points = run.timeline().points();
  const std::vector<std::size_t> first = first_points(points);
  std::array<CategoryOverTime, kCategories> all;  // at first by how much each point differs from the one before it
  for (std::size_t i = 0; i < kCategories; ++i)
    all[i] = {std::string(name_of(static_cast<Category>(i))), std::vector<std::int64_t>(points.size())};
  const auto add = [&](std::int32_t event, Category category, std::int64_t bytes) {
    if (static_cast<std::size_t>(event) < first.size())
      all[static_cast<std::size_t>(category)].bytes[first[static_cast<std::size_t>(event)]] += bytes;
  };
  for (const LedgerEntry& entry : run.ledger()) {
    add(entry.born, entry.category, entry.bytes);
    if (entry.died != 0) add(entry.died, entry.category, -entry.bytes);
  }
  std::vector<CategoryOverTime> found;
  for (CategoryOverTime& one : all) {
    for (std::size_t i = 1; i < points.size(); ++i) one.bytes[i] += one.bytes[i - 1];
    if (has_any(one)) found.push_back(std::move(one));
  }
  return found;
}

}  // namespace tidemark
