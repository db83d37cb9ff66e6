#include "plan/share.h"

#include <algorithm>

namespace tidemark::plan {

Space shared(const Space& space, const Share& share) {
  const auto is_mine = [&](const Candidate& one) {
    if (share.is_part()) return static_cast<std::int64_t>(one.family) % share.of == share.part;
    return std::find(share.numbers.begin(), share.numbers.end(), static_cast<std::int64_t>(one.number)) !=
           share.numbers.end();
  };
  constexpr std::size_t kGone = static_cast<std::size_t>(-1);
  Space mine;
  mine.trainers = space.trainers;
  std::vector<std::size_t> places(space.candidates.size(), kGone);
  for (std::size_t one = 0; one < places.size(); ++one) {
    if (!is_mine(space.candidates[one])) continue;
    places[one] = mine.candidates.size();
    mine.candidates.push_back(space.candidates[one]);
  }
  for (std::size_t family = 0; family < space.families.size(); ++family) {
    std::vector<std::size_t> left;
    for (const std::size_t one : space.families[family])
      if (places[one] != kGone) left.push_back(places[one]);
    if (left.empty()) continue;
    for (const std::size_t one : left) mine.candidates[one].family = mine.families.size();
    mine.families.push_back(std::move(left));
    mine.bases.push_back(space.bases[family]);
    if (!space.kin.empty()) mine.kin.push_back(space.kin[family]);
  }
  return mine;
}

void Share::fields(Share& self, const FieldVisitor& visit) {
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
