// The search for layers, on random costs and peaks.
#include "plan/layer_choice.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <random>

namespace tidemark::plan {
namespace {

/// Layers of a few kinds, with two operators.
std::vector<LayerCost> some_costs() {
  const auto kinds = *rc::gen::container<std::vector<int>>(*rc::gen::inRange(1, 12), rc::gen::inRange(1, 4));
  std::vector<LayerCost> costs;
  for (const int kind : kinds) {
    const double seconds = 10.0 * kind;
    costs.push_back({seconds, {seconds / 2, seconds / 5}, {3.0 * kind, 2.0}});
  }
  return costs;
}

/// A peak that nothing is known of: any number for any choice.
double wild_peak(const LayerChoice& choice, unsigned seed) {
  std::seed_seq sequence{seed, static_cast<unsigned>(std::hash<std::vector<bool>>{}(choice.layers)),
                         static_cast<unsigned>(std::hash<std::vector<bool>>{}(choice.keeping)),
                         static_cast<unsigned>(std::hash<std::vector<bool>>{}(choice.kept))};
  std::mt19937 random(sequence);
  return std::uniform_real_distribution<>(0, 100)(random);
}

/// Of a chain: what earlier layers hold when a layer has run again, the head at first.
double chain_peak(const std::vector<LayerCost>& costs, const LayerChoice& choice) {
  constexpr double kInput = 1, kHead = 5;
  double held = 0, peak = 0;
  for (std::size_t layer = 0; layer < costs.size(); ++layer) {
    const double whole = costs[layer].seconds;
    double holds = whole;
    if (choice.layers[layer]) {
      holds = kInput;
      for (std::size_t one = 0; one < choice.kept.size(); ++one)
        if (choice.keeping[layer] && choice.kept[one]) holds += costs[layer].operator_bytes[one];
    }
    peak = std::max(peak, held + std::max(holds, whole));
    held += holds;
  }
  return std::max(peak, held + kHead);
}

std::optional<FoundChoice> found_under(const std::vector<LayerCost>& costs, double budget,
                                       const std::function<double(const LayerChoice&)>& peak) {
  return least_recomputation(costs, [&](const LayerChoice& choice) { return peak(choice) <= budget; });
}

RC_GTEST_PROP(LayerChoices, MoreBudgetNeverTakesMoreTimeWhateverThePeaks, ()) {
  const std::vector<LayerCost> costs = some_costs();
  const auto seed = *rc::gen::arbitrary<unsigned>();
  const auto peak = [&](const LayerChoice& choice) { return wild_peak(choice, seed); };
  std::optional<FoundChoice> before;
  for (double budget = 5; budget <= 105; budget += 10) {
    const std::optional<FoundChoice> found = found_under(costs, budget, peak);
    if (found) RC_ASSERT(peak(found->choice) <= budget);
    if (before) {
      RC_ASSERT(found.has_value());
      RC_ASSERT(found->seconds <= before->seconds);
    }
    before = found;
  }
  RC_ASSERT(before.has_value());
}

/// Seconds and peak of every layer in every of three ways, with every set of operators.
std::vector<std::pair<double, double>> all_choices(const std::vector<LayerCost>& costs) {
  std::vector<std::pair<double, double>> all;
  std::size_t ways = 1;
  for (std::size_t i = 0; i < costs.size(); ++i) ways *= 3;
  for (std::size_t bits = 0; bits < 4; ++bits)
    for (std::size_t way = 0; way < ways; ++way) {
      LayerChoice choice{
          std::vector<bool>(costs.size()), std::vector<bool>(costs.size()), {(bits & 1) != 0, (bits & 2) != 0}};
      for (std::size_t layer = 0, rest = way; layer < costs.size(); ++layer, rest /= 3) {
        choice.layers[layer] = rest % 3 != 0;
        choice.keeping[layer] = rest % 3 == 2;
      }
      all.emplace_back(seconds_again(costs, choice), chain_peak(costs, choice));
    }
  return all;
}

/// With every budget, not with some that are drawn.
TEST(LayerChoices, OfEqualLayersInAChainNothingIsBetter) {
  for (std::size_t count = 1; count <= 7; ++count) {
    const std::vector<LayerCost> costs(count, {20, {12, 4}, {4, 3}});
    const auto all = all_choices(costs);
    for (int budget = 20; budget <= 160; ++budget) {
      std::optional<double> least;
      for (const auto& [seconds, peak] : all)
        if (peak <= budget && (!least || seconds < *least)) least = seconds;
      const std::optional<FoundChoice> found =
          found_under(costs, budget, [&](const LayerChoice& choice) { return chain_peak(costs, choice); });
      ASSERT_EQ(found.has_value(), least.has_value()) << count << " layers, " << budget;
      if (found) {
        EXPECT_LE(found->seconds, *least) << count << " layers, " << budget;
      }
    }
  }
}

TEST(LayerChoices, AsksLittleOfManyLayers) {
  const std::vector<LayerCost> costs(80, {20, {12, 4}, {4, 3}});
  for (const double budget : {100.0, 200.0, 400.0, 800.0, 1500.0}) {
    ChoiceCounts counts;
    least_recomputation(costs, [&](const LayerChoice& choice) { return chain_peak(costs, choice) <= budget; }, &counts);
    EXPECT_LE(counts.asked, 100) << budget;
    EXPECT_GT(counts.candidates, 1000);
  }
}

TEST(LayerChoices, NothingRunsAgainWhereAllFits) {
  const std::vector<LayerCost> costs(3, {20, {12}, {4}});
  const std::optional<FoundChoice> found = least_recomputation(costs, [](const LayerChoice&) { return true; });
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->choice.is_empty());
  EXPECT_EQ(found->seconds, 0);
  EXPECT_FALSE(least_recomputation(costs, [](const LayerChoice&) { return false; }));
}

}  // namespace
}  // namespace tidemark::plan
