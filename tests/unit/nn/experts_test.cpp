#include "nn/experts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace tidemark {
namespace {

struct Case {
  const char* name;
  std::int64_t rows, experts, per_token;
  double skew;
};

class TokensPerExpert : public testing::TestWithParam<Case> {};

/// Row by row, as the virtual GPU fills a router's top-k.
std::vector<std::int64_t> counted(const Case& c) {
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(c.experts));
  const auto skewed = static_cast<std::int64_t>(std::llround(c.skew * static_cast<double>(c.rows)));
  for (std::int64_t row = 0; row < c.rows; ++row)
    for (std::int64_t choice = 0; choice < c.per_token; ++choice)
      ++tokens[static_cast<std::size_t>(row < skewed ? choice : (row * c.per_token + choice) % c.experts)];
  return tokens;
}

TEST_P(TokensPerExpert, AreThoseOfTheFilledChoices) {
  const Case& c = GetParam();
  const auto tokens = tokens_per_expert(c.rows, {.count = c.experts, .per_token = c.per_token}, c.skew);
  EXPECT_EQ(tokens, counted(c));
  EXPECT_EQ(std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0}), c.rows * c.per_token);
}

INSTANTIATE_TEST_SUITE_P(Routings, TokensPerExpert,
                         testing::Values(Case{"balanced", 128, 8, 2, 0}, Case{"uneven", 33, 7, 3, 0},
                                         Case{"half", 128, 8, 2, 0.5}, Case{"third_of_odd", 101, 16, 4, 1.0 / 3},
                                         Case{"all_skewed", 50, 60, 4, 1},
                                         Case{"fewer_rows_than_experts", 3, 128, 8, 0},
                                         Case{"one_expert", 10, 1, 1, 0.2}, Case{"no_rows", 0, 4, 2, 0.5}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tidemark
