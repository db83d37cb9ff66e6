#include "program/routed.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tidemark {
namespace {

void check(const Routing& routing) {
  constexpr std::int64_t kMost = 1 << 20;
  if (routing.tokens < 0 || routing.chosen < 0 || routing.experts < 1 || routing.experts > kMost)
    throw Error(Errc::bad_value, "the program has no such experts");
}

/// Of the first `places` of a table that names the experts in turn, those that name this one.
std::int64_t in_turn(std::int64_t places, const Routing& routing, std::int64_t expert) {
  return places / routing.experts + (expert < places % routing.experts ? 1 : 0);
}

std::int64_t skewed(const Routing& routing) {
  const double share = static_cast<double>(routing.skew) / static_cast<double>(kSkewOfAll);
  return std::llround(share * static_cast<double>(routing.tokens));
}

std::int64_t tokens_of_number(const Routing& routing, std::int64_t first, std::int64_t expert) {
  return (expert < routing.chosen ? first : 0) + in_turn(routing.tokens * routing.chosen, routing, expert) -
         in_turn(first * routing.chosen, routing, expert);
}

}  // namespace

std::int64_t tokens_of(const Routing& routing, std::int64_t place) {
  check(routing);
  const std::int64_t first = skewed(routing);
  if (first == 0 && place < std::min(routing.experts, routing.tokens * routing.chosen))
    return in_turn(routing.tokens * routing.chosen, routing, place);
  for (std::int64_t expert = 0, hit = 0; expert < routing.experts; ++expert) {
    const std::int64_t tokens = tokens_of_number(routing, first, expert);
    if (tokens > 0 && hit++ == place) return tokens;
  }
  throw Error(Errc::bad_value, "fewer experts are chosen than the program goes through");
}

std::int64_t experts_hit(const Routing& routing) {
  check(routing);
  const std::int64_t first = skewed(routing);
  if (first == 0) return std::min(routing.experts, routing.tokens * routing.chosen);
  std::int64_t hit = 0;
  for (std::int64_t expert = 0; expert < routing.experts; ++expert)
    if (tokens_of_number(routing, first, expert) > 0) ++hit;
  return hit;
}

}  // namespace tidemark
