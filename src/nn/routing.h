// How a router's choice spreads tokens over experts: the first tokens choose the first experts, the rest go round in
// turn. As virtual_gpu/torch_extension/integers/decided_data.cpp fills a top k.
#pragma once
#include <cstdint>

namespace tidemark {

struct Routing {
  std::int64_t tokens, chosen, experts;  // of each token as many are chosen
  std::int64_t first;                    // tokens that choose the first experts
};

/// How many of so many tokens a share of them is.
std::int64_t tokens_of_share(std::int64_t tokens, double share);

/// How many tokens choose this one.
std::int64_t tokens_of_expert(const Routing& routing, std::int64_t expert);

}  // namespace tidemark
