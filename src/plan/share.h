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

  static void fields(Share& self, const FieldVisitor& visit);
};

/// Of the whole space what is this share's: nothing, where there are more parts than families.
Space shared(const Space& space, const Share& share);

}  // namespace tidemark::plan
