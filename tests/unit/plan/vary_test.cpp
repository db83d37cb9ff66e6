#include "plan/vary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

namespace tidemark::vary {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

std::vector<double> up_to(std::size_t last) {
  std::vector<double> sizes;
  for (std::size_t size = 1; size <= last; ++size) sizes.push_back(static_cast<double>(size));
  return sizes;
}

/// A card of 80 GiB and a program whose peak is a function of its sizes.
struct Program {
  std::function<double(const std::vector<double>&)> gib;
  bool ends_when_full = true;

  Outcome operator()(const std::vector<double>& sizes) const {
    const auto bytes = static_cast<std::int64_t>(gib(sizes) * static_cast<double>(kGiB));
    const bool fits = bytes <= 80 * kGiB;
    if (fits || !ends_when_full) return {fits, bytes, true};
    return {false, 80 * kGiB + 1, false};  // that is all that an out-of-memory error tells
  }
};

Found search(std::vector<std::vector<double>> sizes, const Program& program, std::size_t at_once) {
  const Question question{std::move(sizes), 80 * kGiB, at_once};
  std::set<Point> tried;
  return find_largest(question, [&](const std::vector<Point>& points) {
    EXPECT_LE(points.size(), at_once);
    std::vector<Outcome> outcomes;
    for (const Point& point : points) {
      EXPECT_TRUE(tried.insert(point).second) << "tried twice";
      std::vector<double> values;
      for (std::size_t name = 0; name < point.size(); ++name) values.push_back(question.sizes[name][point[name]]);
      outcomes.push_back(program(values));
    }
    return outcomes;
  });
}

struct Growing {
  const char* name;
  double constant, linear, square;
  std::size_t values, last_that_fits, at_most_alone, at_most_in_pairs;
};

void PrintTo(const Growing& growing, std::ostream* out) { *out << growing.name; }

class FindSmooth : public testing::TestWithParam<Growing> {};

TEST_P(FindSmooth, TakesFewTrialsWhereMemoryGrowsSmoothly) {
  const Growing& of = GetParam();
  const Program program{
      [&](const auto& size) { return of.constant + of.linear * size[0] + of.square * size[0] * size[0]; }};
  for (const std::size_t at_once : {std::size_t{1}, std::size_t{2}}) {
    const Found found = search({up_to(of.values)}, program, at_once);
    ASSERT_EQ(found.largest, std::vector<Point>{{of.last_that_fits - 1}});
    EXPECT_LE(found.tried.size(), at_once == 1 ? of.at_most_alone : of.at_most_in_pairs) << at_once << " at once";
    EXPECT_TRUE(found.contradictions.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    , FindSmooth,
    testing::Values(Growing{"Linear", 20.1, 2.5, 0, 64, 23, 4, 4}, Growing{"MostlyConstant", 70, 0.3, 0, 64, 33, 4, 4},
                    Growing{"NoConstant", 0, 0.79, 0, 128, 101, 3, 4}, Growing{"Square", 5, 0, 0.05, 64, 38, 6, 6},
                    Growing{"LinearAndSquare", 16, 0.4, 0.01, 256, 62, 6, 7},
                    Growing{"AllFit", 1, 0.1, 0, 64, 64, 2, 3}, Growing{"OneFits", 60, 15, 0, 64, 1, 2, 3},
                    Growing{"LongRange", 20, 0.0007, 0, 100000, 85714, 4, 4}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(FindLargest, NothingFitsAfterTheSmallestWasTried) {
  const Found found = search({up_to(64)}, {[](const auto& size) { return 80 + size[0]; }}, 1);
  EXPECT_TRUE(found.largest.empty());
  ASSERT_EQ(found.tried.size(), 1);
  EXPECT_EQ(found.tried[0].point, Point{0});
}

// A line through the smallest is a rough one far off: one trial there, not two, makes it fine.
TEST(FindLargest, TakesOneTrialWhereAGuessIsRough) {
  const Program program{[](const auto& size) { return size[0] == 1 ? 1 : 2 + 0.38 * size[0]; }};
  const Found found = search({up_to(256)}, program, 2);
  EXPECT_EQ(found.largest, std::vector<Point>{{204}});
  EXPECT_LE(found.tried.size(), 5);
}

// Near the card's limit the allocator lets go of what it caches, and more fits than lines tell.
TEST(FindLargest, GoesOnWhereTheAllocatorGivesBack) {
  const Program program{[](const auto& size) { return size[0] <= 26 ? std::min(10 + 3 * size[0], 79.5) : 99; }};
  for (const std::size_t at_once : {std::size_t{1}, std::size_t{2}}) {
    const Found found = search({up_to(512)}, program, at_once);
    EXPECT_EQ(found.largest, std::vector<Point>{{25}});
    EXPECT_LE(found.tried.size(), 8) << at_once;
  }
}

struct Stairs {
  const char* name;
  double (*gib)(const std::vector<double>&);
  std::vector<std::vector<double>> sizes;
  std::size_t largest, at_most;
};

void PrintTo(const Stairs& stairs, std::ostream* out) { *out << stairs.name; }

std::vector<double> lengths() {
  std::vector<double> sizes;
  for (double length = 512; length <= 8192; length += 512) sizes.push_back(length);
  return sizes;
}

class FindStairs : public testing::TestWithParam<Stairs> {};

TEST_P(FindStairs, TakesFewTrials) {
  const Found found = search(GetParam().sizes, {GetParam().gib}, 2);
  EXPECT_EQ(found.largest.size(), GetParam().largest);
  EXPECT_LE(found.tried.size(), GetParam().at_most);
}

// All would be 1,024 trials, or 768; to prove n steps of a staircase takes 2 n + 1.
INSTANTIATE_TEST_SUITE_P(
    , FindStairs,
    testing::Values(
        Stairs{"Tokens", [](const auto& v) { return 19.6 + v[0] * v[1] / 512; }, {up_to(64), lengths()}, 12, 30},
        Stairs{"Logits",
               [](const auto& v) { return 30 + v[0] * v[1] / 900 + 0.01 * v[0] + 0.0002 * v[1]; },
               {up_to(64), lengths()},
               13,
               30},
        Stairs{"Scores",
               [](const auto& v) { return 15 + v[0] * v[1] / 2000 + v[0] * v[1] * v[1] / 6e6; },
               {up_to(64), lengths()},
               13,
               41},
        Stairs{"ThreeNames",
               [](const auto& v) { return 10 + v[2] * 4 + v[0] * v[1] / 1024 + 0.3 * v[0] * v[2] + v[0]; },
               {up_to(64), {512, 1024, 2048, 4096}, {1, 2, 3, 4}},
               16,
               46}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(FindLargest, BatchAndLengthMakeAStaircase) {
  const auto fits = [](std::size_t batch, std::size_t length) {
    return batch <= 64 && length <= 16 && batch * length <= 60;
  };
  const Program program{[](const auto& size) { return 20 + size[0] * size[1] / 512; }};
  std::vector<Point> expected;
  for (std::size_t batch = 1; batch <= 64; ++batch)
    for (std::size_t length = 1; length <= 16; ++length)
      if (fits(batch, length) && !fits(batch + 1, length) && !fits(batch, length + 1))
        expected.push_back({batch - 1, length - 1});
  EXPECT_EQ(search({up_to(64), lengths()}, program, 2).largest, expected);
}

TEST(FindLargest, ANameThatDoesNotMatterCostsThreeTrialsMore) {
  const Program program{[](const auto& size) { return 20.1 + 2.5 * size[0]; }};
  const Found alone = search({up_to(64)}, program, 2), both = search({up_to(64), {1, 2, 3, 4, 5}}, program, 2);
  EXPECT_EQ(both.largest, (std::vector<Point>{{22, 4}}));
  EXPECT_LE(both.tried.size(), alone.tried.size() + 3);
}

// Guesses always go to the end of what is left, as nothing tells of the cliff.
TEST(FindLargest, ACliffKeepsToTheBound) {
  for (const double cliff : {2.0, 777.0, 31415.0, 65536.0, 99998.0})
    for (const std::size_t at_once : {std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
      const Found found = search(
          {up_to(100000)}, {[&](const auto& size) { return size[0] < cliff ? 1 + 1e-6 * size[0] : 99; }}, at_once);
      EXPECT_EQ(found.largest, std::vector<Point>{{static_cast<std::size_t>(cliff) - 2}});
      EXPECT_LE(found.tried.size(), most_trials(100000, at_once)) << cliff << ", " << at_once << " at once";
    }
}

TEST(FindLargest, ReportsWhatGrowsTheOtherWay) {
  // 8 values; 5 does not fit, 6 and 7 do.
  const Program program{[](const auto& size) { return size[0] == 5 ? 90 : 10 * size[0]; }, false};
  const Found found = search({up_to(8)}, program, 8);
  EXPECT_EQ(found.largest, std::vector<Point>{{3}});
  ASSERT_FALSE(found.contradictions.empty());
  for (const Contradiction& one : found.contradictions) EXPECT_EQ(one.smaller.point, Point{4});
}

TEST(FindLargest, ReportsWhatShrinksThoughAllFit) {
  const Program program{[](const auto& size) { return size[0] == 3 ? 20 : 30 + size[0]; }};
  const Found found = search({up_to(4)}, program, 4);
  EXPECT_EQ(found.largest, std::vector<Point>{{3}});
  ASSERT_EQ(found.contradictions.size(), 2);
  for (const Contradiction& one : found.contradictions) EXPECT_EQ(one.larger.point, Point{2});
}

}  // namespace
}  // namespace tidemark::vary
