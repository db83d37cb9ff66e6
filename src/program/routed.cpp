#include "program/routed.h"

#include <algorithm>

#include "base/error.h"

namespace tidemark {

Routing routing_of(std::int64_t tokens, std::int64_t chosen, std::int64_t experts, std::int64_t skew) {
  constexpr std::int64_t kMost = 1 << 20, kMostTokens = std::int64_t{1} << 40;  // whose products are no more than 2^63
  if (tokens < 0 || tokens > kMostTokens || chosen < 0 || chosen > kMost || experts < 1 || experts > kMost)
    throw Error(Errc::bad_value, "the program has no such experts", "config.json");
  const double share = static_cast<double>(skew) / static_cast<double>(kSkewOfAll);
  return {tokens, chosen, experts, tokens_of_share(tokens, share)};
}

std::int64_t tokens_of_place(const Routing& routing, std::int64_t place) {
  if (routing.first == 0 && place < experts_hit(routing)) return tokens_of_expert(routing, place);
  for (std::int64_t expert = 0, hit = 0; expert < routing.experts; ++expert) {
    const std::int64_t tokens = tokens_of_expert(routing, expert);
    if (tokens > 0 && hit++ == place) return tokens;
  }
  throw Error(Errc::bad_value, "fewer experts are chosen than the program goes through");
}

std::int64_t experts_hit(const Routing& routing) {
  if (routing.first == 0) return std::min(routing.experts, routing.tokens * routing.chosen);
  std::int64_t hit = 0;
  for (std::int64_t expert = 0; expert < routing.experts; ++expert)
    if (tokens_of_expert(routing, expert) > 0) ++hit;
  return hit;
}

}  // namespace tidemark
