#include "nn/routing.h"

#include <cmath>

namespace tidemark {
namespace {

/// Of the first `places` of a table that names the experts in turn, those that name this one.
std::int64_t in_turn(std::int64_t places, const Routing& routing, std::int64_t expert) {
  return places / routing.experts + (expert < places % routing.experts ? 1 : 0);
}

}  // namespace

std::int64_t tokens_of_share(std::int64_t tokens, double share) {
  return std::llround(share * static_cast<double>(tokens));
}

std::int64_t tokens_of_expert(const Routing& routing, std::int64_t expert) {
  return (expert < routing.chosen ? routing.first : 0) + in_turn(routing.tokens * routing.chosen, routing, expert) -
         in_turn(routing.first * routing.chosen, routing, expert);
}

}  // namespace tidemark
