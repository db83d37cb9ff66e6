// A search that several machines share: parts of the space are questions of their own, and what they find is one more,
// of the candidates that any part would name.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "plan/space.h"

namespace tidemark::plan {

struct Share {
  std::int64_t part = 0, of = 1;  // whole families, by turns
  // Instead: what the parts have found, and what they have counted.
  std::vector<std::int64_t> numbers;
  std::int64_t candidates = 0, simulated = 0;
  std::map<std::string, double> refusals;

  bool is_part() const { return candidates == 0; }

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit);
};

/// Of the whole space what is this share's: nothing, where there are more parts than families.
Space shared(const Space& space, const Share& share);

template <class Self, class Visit>
void Share::fields(Self& self, Visit&& visit) {
  const auto whole = [](std::string_view help) {
    return FieldInfo{.help = help, .placeholder = "N", .low = 0, .high = 1e15};
  };
  visit("part", self.part, whole("Which of them, counted from 0"));
  visit("of", self.of, FieldInfo{.help = "Parts of the space", .placeholder = "N", .low = 1, .high = 1e6});
  visit("numbers", self.numbers, whole("Instead: candidates that parts have answered with"));
  visit("candidates", self.candidates, whole("Candidates of all parts"));
  visit("simulated", self.simulated, whole("Simulations of all parts"));
  visit("refusals", self.refusals,
        FieldInfo{.help = "Why candidates of the parts could not be simulated, and how many",
                  .placeholder = "N",
                  .low = 0,
                  .high = 1e15});
}

}  // namespace tidemark::plan
