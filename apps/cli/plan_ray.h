// --ray: a plan's search on the nodes of a Ray cluster, by the active Python's ray (python/tidemark/sharing.py).
#pragma once
#include <vector>

#include "answers/plan_wishes.h"
#include "plan/share.h"
#include "spec_options.h"

namespace tidemark::cli {

/// A search for a goal, on so many cards of one kind as `place` says ("h100-80gbx8").
struct SharedSearch {
  const Asked& asked;
  std::string place;
  answers::PlanWishes wishes;
};

/// Throws Error{usage} where questions follow from each other's answers, and Error{unsupported} for a model that the
/// nodes cannot know.
void check_over_ray(const SpecOptions& options, const answers::PlanWishes& wishes);

/// What all parts of each search have found.  Throws Error.
std::vector<plan::Share> over_ray(const std::vector<SharedSearch>& searches);

}  // namespace tidemark::cli
