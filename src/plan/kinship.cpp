#include "plan/kinship.h"

#include <algorithm>

namespace tidemark::plan {
namespace {

/// Of a space that does not say, each family by itself.
std::vector<Kin> kin_in(const Space& space) {
  if (!space.kin.empty()) return space.kin;
  std::vector<Kin> kin(space.families.size());
  for (std::size_t family = 0; family < kin.size(); ++family) kin[family] = {family, family, 0};
  return kin;
}

}  // namespace

Kinship::Kinship(const Space& space) : space_(space), kin_(kin_in(space)) {
  for (std::size_t family = 0; family < kin_.size(); ++family) {
    by_loading_[kin_[family].loading].push_back(family);
    by_passes_[kin_[family].passes].push_back(family);
  }
}

Kinship::Passes Kinship::passes_of(std::size_t one) const { return {kin_of(one).passes, space_.samples_per_pass(one)}; }

void Kinship::note(std::size_t one, const Seen& seen) {
  if (seen.ran_out_in == Moment::loading) return;
  loaded_.insert(kin_of(one).loading);
  if (seen.ran_out_in == Moment::passes) return;
  passed_.insert(passes_of(one));
  if (seen.fits) begun_.insert({passes_of(one), kin_of(one).answers});
}

bool Kinship::has_begun(std::size_t one) const { return begun_.contains({passes_of(one), kin_of(one).answers}); }

std::vector<std::size_t> Kinship::gone_with(std::size_t one, const Seen& seen) const {
  std::vector<std::size_t> gone;
  if (!seen.ran_out_in) return gone;
  const bool loading = seen.ran_out_in == Moment::loading;
  const Kin& kin = kin_of(one);
  const std::int64_t samples = space_.samples_per_pass(one);
  for (const std::size_t other : loading ? by_loading_.at(kin.loading) : by_passes_.at(kin.passes)) {
    if (other == space_.candidates[one].family) continue;
    if (kin_[other].answers != kin.answers && !seen.no_settings_help) continue;
    const auto& family = space_.families[other];
    const auto first = std::find_if(family.begin(), family.end(), [&](std::size_t candidate) {
      return loading || space_.samples_per_pass(candidate) >= samples;
    });
    if (first != family.end()) gone.push_back(*first);
  }
  return gone;
}

std::tuple<int, std::size_t, std::int64_t> Kinship::turn_of(std::size_t one) const {
  if (!loaded_.contains(kin_of(one).loading)) return {0, kin_of(one).loading, 0};
  const Passes passes = passes_of(one);
  if (!passed_.contains(passes)) return {1, passes.first, passes.second};
  return {2, one, 0};
}

std::vector<std::size_t> Kinship::first_of(const std::vector<std::size_t>& wave) const {
  std::set<std::tuple<int, std::size_t, std::int64_t>> turns;
  std::vector<std::size_t> first;
  for (const std::size_t one : wave)
    if (turns.insert(turn_of(one)).second) first.push_back(one);
  return first;
}

}  // namespace tidemark::plan
