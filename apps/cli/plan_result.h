// What a search has found, as text and as JSON (`tidemark.vary/1`).
#pragma once
#include <string>
#include <vector>

#include "base/value.h"
#include "memory/card.h"
#include "plan/varied.h"
#include "plan/vary.h"
#include "plan_trials.h"

namespace tidemark::cli {

struct SearchResult {
  const Card& card;
  const std::vector<std::string>& command;
  const std::vector<vary::Varied>& varied;
  const vary::Found& found;
  const std::vector<Trial>& trials;
};

std::string text_of(const SearchResult& result);
Value json_of(const SearchResult& result);

}  // namespace tidemark::cli
