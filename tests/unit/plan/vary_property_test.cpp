// Whatever grows: the search has the answer of trying everything, and keeps to its bound.
#include <gtest/gtest.h>
// (rapidcheck's header wants GoogleTest's first)
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "plan/vary.h"

namespace tidemark::vary {
namespace {

constexpr std::int64_t kCapacity = 1000;

/// Any function of one or more indices that never falls, as the sum over all smaller points of what is not negative.
class Table {
 public:
  Table(std::vector<std::size_t> counts, const std::vector<std::int64_t>& steps) : counts_(std::move(counts)) {
    std::size_t cells = 1;
    for (const std::size_t count : counts_) cells *= count;
    for (std::size_t i = 0; i < cells; ++i) {
      std::int64_t most = 0;  // of the neighbours below
      const Point point = point_of(i);
      for (std::size_t name = 0; name < counts_.size(); ++name) {
        Point below = point;
        if (below[name]-- > 0) most = std::max(most, needed_[index_of(below)]);
      }
      needed_.push_back(most + steps[i % steps.size()]);
    }
  }

  std::int64_t needed(const Point& point) const { return needed_[index_of(point)]; }
  bool fits(const Point& point) const { return needed(point) <= kCapacity; }
  std::size_t size() const { return needed_.size(); }

  Point point_of(std::size_t index) const {
    Point point;
    for (const std::size_t count : counts_) point.push_back(index % count), index /= count;
    return point;
  }
  std::vector<Point> largest() const {
    std::vector<Point> points;
    for (std::size_t i = 0; i < size(); ++i) {
      const Point point = point_of(i);
      bool can_be_raised = false;
      for (std::size_t name = 0; name < counts_.size(); ++name) {
        Point above = point;
        can_be_raised = can_be_raised || (++above[name] < counts_[name] && fits(above));
      }
      if (fits(point) && !can_be_raised) points.push_back(point);
    }
    std::sort(points.begin(), points.end());
    return points;
  }

 private:
  std::size_t index_of(const Point& point) const {
    std::size_t index = 0;
    for (std::size_t name = counts_.size(); name-- > 0;) index = index * counts_[name] + point[name];
    return index;
  }

  std::vector<std::size_t> counts_;
  std::vector<std::int64_t> needed_;
};

/// Steps of many kinds: mostly flat with cliffs, steady, or wild.
std::vector<std::int64_t> any_steps(std::size_t cells) {
  const std::int64_t most = *rc::gen::element<std::int64_t>(2, 20, 200, 2000);
  const int share = *rc::gen::inRange(1, 11);
  std::vector<std::int64_t> steps;
  for (std::size_t i = 0; i < std::min<std::size_t>(cells, 97); ++i)
    steps.push_back(*rc::gen::inRange(0, 10) < share ? *rc::gen::inRange<std::int64_t>(0, most) : 0);
  return steps;
}

Found search(const Table& table, const std::vector<std::size_t>& counts, std::size_t at_once, bool is_whole) {
  Question question{{}, kCapacity, at_once};
  for (const std::size_t count : counts) {
    question.sizes.emplace_back();
    for (std::size_t i = 0; i < count; ++i) question.sizes.back().push_back(static_cast<double>(i + 1));
  }
  std::set<Point> tried;
  return find_largest(question, [&](const std::vector<Point>& points) {
    RC_ASSERT(!points.empty() && points.size() <= at_once);
    std::vector<Outcome> outcomes;
    for (const Point& point : points) {
      RC_ASSERT(tried.insert(point).second);
      const bool whole = table.fits(point) || is_whole;
      outcomes.push_back({table.fits(point), whole ? table.needed(point) : kCapacity + 1, whole});
    }
    return outcomes;
  });
}

RC_GTEST_PROP(FindLargest, OfOneNameIsThatOfTryingAllWithinTheBound, ()) {
  const std::size_t count = *rc::gen::inRange<std::size_t>(1, 400), at_once = *rc::gen::inRange<std::size_t>(1, 5);
  const Table table({count}, any_steps(count));
  const Found found = search(table, {count}, at_once, *rc::gen::arbitrary<bool>());
  RC_ASSERT(found.largest == table.largest());
  RC_ASSERT(found.tried.size() <= most_trials(count, at_once));
  RC_ASSERT(found.contradictions.empty());
  // The answer and the next value were both tried.
  const auto was_tried = [&](std::size_t index) {
    return std::any_of(found.tried.begin(), found.tried.end(), [&](const Tried& one) { return one.point[0] == index; });
  };
  const std::size_t next = found.largest.empty() ? 0 : found.largest[0][0] + 1;
  RC_ASSERT(next == 0 || was_tried(next - 1));
  RC_ASSERT(next == count || was_tried(next));
}

RC_GTEST_PROP(FindLargest, OfSeveralNamesIsThatOfTryingAll, ()) {
  const std::size_t names = *rc::gen::inRange<std::size_t>(2, 4), at_once = *rc::gen::inRange<std::size_t>(1, 5);
  std::vector<std::size_t> counts;
  for (std::size_t name = 0; name < names; ++name)
    counts.push_back(*rc::gen::inRange<std::size_t>(1, names == 2 ? 24 : 9));
  std::size_t cells = 1;
  for (const std::size_t count : counts) cells *= count;
  const Table table(counts, any_steps(cells));
  const Found found = search(table, counts, at_once, *rc::gen::arbitrary<bool>());
  RC_ASSERT(found.largest == table.largest());
  RC_ASSERT(found.contradictions.empty());
  for (const Point& point : found.largest)
    RC_ASSERT(std::any_of(found.tried.begin(), found.tried.end(),
                          [&](const Tried& one) { return one.point == point && one.outcome.fits; }));
}

}  // namespace
}  // namespace tidemark::vary
