// `routed` and `hit` in the numbers of a program: experts that are run one after the other, those that any token
// chooses.
#pragma once
#include <cstdint>
#include <string_view>

#include "nn/routing.h"

namespace tidemark {

/// The size by which a program is told what share of the tokens chooses the first experts, of kSkewOfAll: as fine as
/// the number that was asked for.
inline constexpr std::string_view kSkew = "skew";
inline constexpr std::int64_t kSkewOfAll = std::int64_t{1} << 62;

/// Throws Error{bad_value} where there can be no such experts.
Routing routing_of(std::int64_t tokens, std::int64_t chosen, std::int64_t experts, std::int64_t skew);

/// How many tokens the expert has that is so many-th of those that any token chooses.  Throws Error{bad_value} where
/// there are not so many.
std::int64_t tokens_of_place(const Routing& routing, std::int64_t place);

/// How many experts are chosen by any token.
std::int64_t experts_hit(const Routing& routing);

}  // namespace tidemark
