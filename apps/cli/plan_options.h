// What `tidemark plan` takes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "answers/plan_wishes.h"
#include "plan_vary.h"
#include "spec_options.h"

namespace tidemark::cli {

struct PlanOptions {
  SpecOptions spec;
  answers::PlanWishes wishes;
  std::vector<std::string> cards;  // --cheapest, whose prices stand in a file
  std::string prices, json;
  bool ray = false, quiet = false;
  std::vector<std::string> writes;  // --write FORMAT=PATH
  VaryOptions vary;                 // of a command behind --
};

}  // namespace tidemark::cli
