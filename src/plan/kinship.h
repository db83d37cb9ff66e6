// What one simulation tells of other families: programs that ask for the same memory up to some moment.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "plan/search.h"

namespace tidemark::plan {

/// Note [Requests in common]
/// A decision says what of a program's requests it can change first (Moment).  Two candidates that differ in the
/// optimizer's implementation alone ask for the same memory until the optimizer steps: where one has run out by then,
/// the other does, too.  Two that differ in the allocator's settings ask for the same throughout: where what is live
/// and what is asked for are together more than the card has, no settings help.  Nothing is concluded from what fits:
/// that tells only which of a wave to look at before the others.
class Kinship {
 public:
  explicit Kinship(const Space& space);

  /// `one` was looked at.
  void note(std::size_t one, const Seen& seen);
  /// Whether another has begun as it does.
  bool has_begun(std::size_t one) const;
  /// Those that do not fit either, since `one` does not: of each other family the smallest.
  std::vector<std::size_t> gone_with(std::size_t one, const Seen& seen) const;
  /// Of `wave` those to look at together: not one that another of them may answer for.
  std::vector<std::size_t> first_of(const std::vector<std::size_t>& wave) const;

 private:
  using Passes = std::pair<std::size_t, std::int64_t>;  // of that kin, of so many samples
  const Kin& kin_of(std::size_t one) const { return kin_[space_.candidates[one].family]; }
  Passes passes_of(std::size_t one) const;
  std::tuple<int, std::size_t, std::int64_t> turn_of(std::size_t one) const;

  const Space& space_;
  std::vector<Kin> kin_;
  std::map<std::size_t, std::vector<std::size_t>> by_loading_, by_passes_;  // families
  std::set<std::size_t> loaded_;
  std::set<Passes> passed_;
  std::set<std::pair<Passes, std::size_t>> begun_;  // with an allocator that is set so
};

}  // namespace tidemark::plan
