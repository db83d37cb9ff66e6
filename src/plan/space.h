// All configurations that the free decisions make of a spec.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/decision.h"

namespace tidemark::plan {

struct Candidate {
  std::int64_t batch = 1, grad_accumulation = 1, microbatches = 1;  // the size of its pass; microbatches: of a pipeline
  std::int64_t changes = 0;                                         // decisions that differ from what was asked about
  std::size_t number = 0;                                           // in the whole space
  std::size_t family = 0;                                           // of those that differ in the size of a pass alone
};

/// What a family has in common with those of an equal number: what their programs ask for while they load, and, with
/// passes of equal size, before their optimizer steps; how their allocators are set.
struct Kin {
  std::size_t loading = 0, passes = 0, answers = 0;
};

struct Space {
  std::vector<Candidate> candidates;               // the spec itself first, where it can stand
  std::vector<std::vector<std::size_t>> families;  // candidates by number, the smallest pass first
  std::vector<Spec> bases;                         // of each family, but for the size of a pass
  std::vector<Kin> kin;                            // of each family; empty: not known
  std::vector<TrainedAs> trainers;                 // as Bounds has them

  /// What a candidate is, whole: there are too many to keep.
  Spec spec(std::size_t one) const;
  std::int64_t samples_per_pass(std::size_t one) const;
};

/// Which decisions are free: those that do not change the training and are not fixed, and those that are allowed.
struct Freedom {
  std::vector<std::string> fixed, allowed;
};

/// Throws Error{unknown_name} for a decision that there is not, and Error{bad_value} for one that is both fixed and
/// allowed, where nothing can stand, or where there are more than kMostCandidates.
Space make_space(Spec spec, const Bounds& bounds, const Freedom& freedom);

inline constexpr std::size_t kMostCandidates = 1'000'000;

/// Of one forward pass, or of one micro-batch of a pipeline.
std::int64_t samples_per_pass(const Spec& spec);

}  // namespace tidemark::plan
