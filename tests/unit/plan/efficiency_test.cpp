#include "plan/efficiency.h"

#include <gtest/gtest.h>

#include "estimate/asked.h"
#include "plan/links.h"

namespace tidemark::plan {
namespace {

ProductTimes times() { return {{{{64, 1024}, {64, 1024}, {64, 1024}}}, {.01, .1, .1, .4, .1, .4, .4, .8}}; }

double flops(double m, double n, double k) { return times().peak_flops({true, m, n, k}); }

TEST(ProductTimes, AreThoseMeasuredAtPointsOfTheGrid) {
  EXPECT_NEAR(flops(64, 64, 64), 2 * 64 * 64 * 64 / .01, 1);
  EXPECT_NEAR(flops(1024, 1024, 1024), 2.0 * 1024 * 1024 * 1024 / .8, 10);
  EXPECT_NEAR(flops(64, 64, 1024), 2.0 * 64 * 64 * 1024 / .1, 10);
}

TEST(ProductTimes, GrowInProportionBeyondTheGridAndAreThoseOfItsFirstPointBelow) {
  EXPECT_NEAR(flops(4096, 1024, 1024), 4 * flops(1024, 1024, 1024), 100);
  EXPECT_EQ(flops(1, 1, 1), flops(64, 64, 64));
}

TEST(ProductTimes, OfNoTableAreThoseOfThePeak) { EXPECT_EQ(ProductTimes().peak_flops({true, 3, 5, 7}), 2 * 3 * 5 * 7); }

TEST(Curve, IsBetweenItsPoints) {
  const Curve curve{{10, 1000}, {1, 100}};
  EXPECT_EQ(curve.between(1), 1);
  EXPECT_NEAR(curve.between(100), 10, 1e-9);
  EXPECT_EQ(curve.between(5000), 100);
}

TEST(Efficiency, OfAttentionIsThatOfTheNearestWidthOfHeads) {
  Efficiency card;
  card.attention = {{64, {{512}, {.2}}, {{512}, {.1}}}, {128, {{512}, {.4}}, {{512}, {.3}}}};
  EXPECT_EQ(card.attention_share({false, 80, 1024}), .2);
  EXPECT_EQ(card.attention_share({true, 128, 1024}), .3);
  EXPECT_EQ(card.attention_share({false, 256, 256}), .2);  // half of the tokens of the first point
}

TEST(EfficiencyTable, HasTheGeneralClassForCardsWithoutARow) {
  EfficiencyTable table;
  table.cards["a"].is_general = false;
  EXPECT_FALSE(table.of("a").is_general);
  EXPECT_TRUE(table.of("b").is_general);
}

Card card() {
  Card card = card_with_room();
  card.compute_capability_major = 9;
  card.link = {"nvlink", 450'000'000'000};
  return card;
}

TEST(Links, SendByTheRowOfAsManyRanks) {
  const Card on = card();
  Efficiency reached;
  reached.collectives = {{Collective::all_gather, 2, {{1e6, 1e8}, {1e-4, 1e-3}}},
                         {Collective::all_gather, 8, {{1e6, 1e8}, {2e-4, 2e-3}}}};
  const Links links(on, reached, 0);
  EXPECT_DOUBLE_EQ(links.seconds(Collective::all_gather, 1e8, {2, 2}), 1e-3);
  EXPECT_DOUBLE_EQ(links.seconds(Collective::all_gather, 1e8, {4, 4}), 2e-3);
  EXPECT_DOUBLE_EQ(links.seconds(Collective::all_gather, 1e9, {8, 8}), 2e-2);
  EXPECT_DOUBLE_EQ(links.seconds(Collective::all_reduce, 450e9, {2, 2}), 1);  // no row: by the link
  EXPECT_EQ(links.seconds(Collective::all_gather, 1e8, {1, 1}), 0);
}

/// All ports of a node carry a ring that goes through all of its GPUs.
TEST(Links, BetweenNodesHaveThePortsOfAllThatTakePart) {
  const Card on = card();
  const Efficiency plain;
  const Links links(on, plain, 50e9);
  EXPECT_NEAR(links.seconds(Collective::all_gather, 400e9, {16, 8}), 15.0 / 16 + 14 * 3.4e-6, 1e-6);
  EXPECT_NEAR(links.seconds(Collective::all_gather, 400e9, {2, 1}), 4, 1e-6);
}

TEST(Links, OfManyNodesHaveMoreHops) {
  const Card on = card();
  Efficiency reached;
  reached.between_nodes.seconds = 1e-5;
  const Links links(on, reached, 50e9);
  const double ring = 7e-5 + 56 * 3.4e-6, tree = 3e-5 + 7 * 4e-6;  // from node to node, and within nodes
  EXPECT_NEAR(links.seconds(Collective::all_gather, 1, {64, 8}), ring, 1e-9);
  EXPECT_NEAR(links.seconds(Collective::all_reduce, 1, {64, 8}), 2 * tree, 1e-9);
  EXPECT_NEAR(links.seconds(Collective::alltoall, 1, {64, 8}), 7e-5, 1e-9);
}

}  // namespace
}  // namespace tidemark::plan
