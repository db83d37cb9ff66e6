#include "plan/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/check.h"
#include "base/error.h"
#include "plan/trainer_way.h"

namespace tidemark::plan {
namespace {

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_names(const Freedom& freedom) {
  for (const std::string& name : freedom.allowed) decision(name, "--allow");
  for (const std::string& name : freedom.fixed) {
    decision(name, "--fix");
    if (has(freedom.allowed, name))
      throw Error(Errc::bad_value, Value(name).quoted() + " is allowed, too", "--fix", "leave one of the two out");
  }
}

Spec as_trained(Spec spec, const std::vector<TrainedAs>& trainers) {
  spec = as_the_trainer_has_it(std::move(spec));
  for (const auto trainer : trainers) spec = trainer(std::move(spec));
  return spec;
}

/// Walks the decisions in their order.
class Maker {
 public:
  Maker(const Bounds& bounds, const Freedom& freedom) : bounds_(bounds) {
    space_.trainers = bounds.trainers;
    for (const Decision& one : decisions()) {
      const bool is_free = one.same_training ? !has(freedom.fixed, one.name) : has(freedom.allowed, one.name);
      if (is_free || one.must_change) steps_.push_back({&one, is_free});
    }
  }

  Space make(const Spec& spec) {
    walk(spec, 0, 0, {});
    if (space_.candidates.empty()) refuse();
    return std::move(space_);
  }

 private:
  struct Step {
    const Decision* decision;
    bool is_free;
  };

  void walk(const Spec& spec, std::size_t step, std::int64_t changes, const Kin& kin) {
    if (step == steps_.size()) return add(spec, changes);
    if (step + 1 == steps_.size()) {
      if (!can_be_said(spec)) return;
      space_.families.emplace_back();
      space_.bases.push_back(spec);
      space_.kin.push_back(kin);
    }
    const auto& [decision, is_free] = steps_[step];
    if (!decision->must_change || !decision->must_change(spec, bounds_))
      walk(spec, step + 1, changes, kin_with(kin, step, 0));
    else if (!is_free && stuck_.empty())
      stuck_ = decision->name;
    if (!is_free) return;
    std::size_t choice = 0;
    for (const Spec& other : decision->others(spec, bounds_))
      walk(other, step + 1, changes + 1, kin_with(kin, step, ++choice));
  }

  /// The last decision, the size of a pass, is one that every trainer's file can say.
  bool can_be_said(const Spec& spec) {
    if (!bounds_.can_be_said || bounds_.can_be_said(as_trained(spec, space_.trainers))) return true;
    if (reason_.empty()) reason_ = "no configuration can be said in the trainer's own file";
    return false;
  }

  Kin kin_with(Kin kin, std::size_t step, std::size_t choice) {
    const auto add = [&](std::size_t& number) {
      number = numbers_.try_emplace({number, step, choice}, numbers_.size() + 1).first->second;
    };
    switch (steps_[step].decision->changes_from) {
      case Moment::loading: add(kin.loading); [[fallthrough]];
      case Moment::passes: add(kin.passes); break;
      case Moment::optimizer: break;
      case Moment::answers: add(kin.answers); break;
    }
    return kin;
  }

  /// The walk comes to those of one family one after another: the size of a pass is the last decision.
  void add(const Spec& walked, std::int64_t changes) {
    const Spec spec = as_trained(walked, space_.trainers);
    try {
      check_spec(spec);
    } catch (const Error& error) {
      if (reason_.empty()) reason_ = error.where() + ": " + error.message();
      return;
    }
    if (space_.candidates.size() == kMostCandidates)
      throw Error(Errc::bad_value, fmt::format("there are more than {} configurations", kMostCandidates), {},
                  "fix decisions with --fix, or allow fewer values");
    const std::size_t number = space_.candidates.size();
    space_.families.back().push_back(number);
    space_.candidates.push_back({.batch = walked.batch,
                                 .grad_accumulation = walked.grad_accumulation,
                                 .microbatches = walked.pp ? walked.pp->microbatches : 1,
                                 .changes = changes,
                                 .number = number,
                                 .family = space_.families.size() - 1});
    TM_CHECK(space_.spec(number) == spec, "the last decision is the size of a pass alone");
  }

  [[noreturn]] void refuse() const {
    if (!stuck_.empty())
      throw Error(Errc::bad_value, fmt::format("{} cannot stay as it is on {} GPUs", stuck_, bounds_.gpus), "--fix",
                  "leave it free, or say another way with its option");
    throw Error(Errc::bad_value, reason_.empty() ? "nothing that is free can stand" : reason_, {},
                fmt::format("{} samples per step are shared by {} GPUs", bounds_.samples_per_step, bounds_.gpus));
  }

  const Bounds& bounds_;
  std::vector<Step> steps_;
  Space space_;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, std::size_t> numbers_;  // of choices that follow others
  std::string stuck_, reason_;
};

}  // namespace

std::int64_t samples_per_pass(const Spec& spec) { return spec.pp ? spec.batch / spec.pp->microbatches : spec.batch; }

Spec Space::spec(std::size_t one) const {
  const Candidate& candidate = candidates[one];
  Spec spec = bases[candidate.family];
  spec.batch = candidate.batch;
  spec.grad_accumulation = candidate.grad_accumulation;
  if (spec.pp) spec.pp->microbatches = candidate.microbatches;
  return as_trained(std::move(spec), trainers);
}

std::int64_t Space::samples_per_pass(std::size_t one) const {
  return candidates[one].batch / candidates[one].microbatches;
}

Space make_space(Spec spec, const Bounds& bounds, const Freedom& freedom) {
  check_names(freedom);
  spec.gpus = bounds.gpus;
  spec.gpus_per_node = bounds.gpus_per_node;
  spec.rank = 0;
  spec.model = {};
  Space space = Maker(bounds, freedom).make(spec);
  std::size_t left = 0;
  for (std::size_t family = 0; family < space.families.size(); ++family) {
    if (space.families[family].empty()) continue;
    space.kin[left] = space.kin[family];
    if (left != family) space.bases[left] = std::move(space.bases[family]);
    space.families[left++].swap(space.families[family]);
  }
  space.kin.resize(left);
  space.bases.resize(left);
  space.families.resize(left);
  for (std::size_t number = 0; number < space.families.size(); ++number) {
    auto& family = space.families[number];
    for (const std::size_t one : family) space.candidates[one].family = number;
    std::stable_sort(family.begin(), family.end(), [&](std::size_t a, std::size_t b) {
      return space.samples_per_pass(a) < space.samples_per_pass(b);
    });
  }
  return space;
}

}  // namespace tidemark::plan
