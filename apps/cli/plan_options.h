// What `tidemark plan` takes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "plan_vary.h"
#include "spec_options.h"

namespace tidemark::cli {

struct PlanOptions {
  SpecOptions spec;
  std::int64_t nodes = 1, samples = 0;  // samples 0: as many as the spec has
  std::string goal, largest, prices, margin, json;
  std::string checkpointing_under;  // a number of bytes, or card
  std::vector<std::string> cards;  // --cheapest
  std::vector<std::string> fixed, allowed;
  std::vector<std::string> writes;  // --write FORMAT=PATH
  std::int64_t answers = 3;
  VaryOptions vary;  // of a command behind --
};

}  // namespace tidemark::cli
