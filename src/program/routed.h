// How a router's choice spreads tokens over experts: `routed` and `hit` in the numbers of a program.
#pragma once
#include <cstdint>
#include <string_view>

namespace tidemark {

/// The size by which a program is told how many in a billion of the tokens choose the first experts.
inline constexpr std::string_view kSkew = "skew";
inline constexpr std::int64_t kSkewOfAll = 1'000'000'000;

struct Routing {
  std::int64_t tokens, chosen, experts;  // of each token as many are chosen
  std::int64_t skew;                     // of kSkewOfAll
};

/// How many tokens the expert has that is so many-th of those that any token chooses: the share that is skewed goes to
/// the first experts, and the rest go round in turn, as virtual_gpu/torch_extension/integers/decided_data.cpp fills a
/// top k.  Throws Error{bad_value} where there are not so many.
std::int64_t tokens_of(const Routing& routing, std::int64_t place);

/// How many experts are chosen by any token.
std::int64_t experts_hit(const Routing& routing);

}  // namespace tidemark
