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

}  // namespace tidemark::plan
