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
  std::vector<std::string> writes;            // --write FORMAT=PATH
  std::vector<std::string> trainers_of_file;  // the format of the trainer's file, if one is given and can be written
  VaryOptions vary;                           // of a command behind --
};

}  // namespace tidemark::cli
