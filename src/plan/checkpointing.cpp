#include "plan/checkpointing.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "base/error.h"
#include "estimate/layer_set.h"
#include "plan/pass_time.h"

namespace tidemark::plan {
namespace {

Spec all_checkpointed(Spec spec) {
  if (spec.checkpointing == Checkpointing::none) spec.checkpointing = Checkpointing::non_reentrant;
  spec.checkpoint_every = 1;
  spec.checkpoint_layers.clear();
  spec.checkpoint_save.clear();
  spec.checkpoint_save_layers.clear();
  return spec;
}

/// As check_spec has it.
bool can_keep(const Spec& spec) { return spec.checkpointing == Checkpointing::non_reentrant && runs_whole_model(spec); }

/// Products and attention at the card's peak, the rest as fast as memory is written and read.  Ratios of a usual card
/// where it says nothing.
double seconds_of(const Spec& spec, const Machine& machine, const Again& again) {
  constexpr double kUsualFlops = 1e15, kUsualBytes = 3e12;
  const bool is_half = spec.dtype != WeightDtype::fp32 || spec.autocast != Autocast::none;
  const double flops = peak_flops(spec, machine.card, is_half), bytes = memory_rate(machine);
  return again.flops / (flops > 0 ? flops : kUsualFlops) + 2 * again.written_bytes / (bytes > 0 ? bytes : kUsualBytes);
}

LayerCost cost_of(const Spec& spec, const Machine& machine, const LayerAgain& again,
                  const std::vector<std::string>& operators) {
  LayerCost cost{.seconds = seconds_of(spec, machine, again.all)};
  for (const std::string& name : operators) {
    const auto found = again.operators.find(name);
    const bool is_there = found != again.operators.end();
    cost.operator_seconds.push_back(is_there ? seconds_of(spec, machine, found->second.again) : 0);
    cost.operator_bytes.push_back(is_there ? found->second.result_bytes : 0);
  }
  return cost;
}

/// Simulates choices.  A card must have room in every order of addresses; a number of bytes is for the peak that is
/// shown.
class Judge {
 public:
  Judge(const Spec& spec, const LayerWork& work, std::int64_t budget_bytes, const Engine& engine)
      : spec_(spec), work_(work), budget_bytes_(budget_bytes), oracle_(make_oracle(engine)) {}

  bool fits(const LayerChoice& choice) {
    const Spec spec = with_choice(spec_, work_, choice);
    Seen seen = oracle_.simulate(spec);
    if (!seen.refusal.empty()) {
      const std::lock_guard lock(mutex_);
      ++refusals[seen.refusal];
    }
    if (!is_within(seen)) return false;
    return budget_bytes_ > 0 || is_within(oracle_.confirm(spec));
  }

  /// Of all ranks, in every order of addresses.
  Seen confirmed(const LayerChoice& choice) const { return oracle_.tell(with_choice(spec_, work_, choice)); }

  StepTime time(const Spec& spec) const { return oracle_.time(spec); }

  std::map<std::string, std::int64_t> refusals;

 private:
  bool is_within(const Seen& seen) const {
    if (!seen.refusal.empty() || !seen.fits) return false;
    return budget_bytes_ == 0 || seen.peak.device_bytes + seen.margin_bytes <= budget_bytes_;
  }

  const Spec& spec_;
  const LayerWork& work_;
  std::int64_t budget_bytes_;
  Oracle oracle_;
  std::mutex mutex_;
};

std::vector<std::string> texts_of(const LayerWork& work, const std::vector<bool>& layers) {
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (layers[i]) numbers.push_back(work.numbers[i]);
  return layers_to_texts(numbers);
}

Planned planned(const Question& question, const Spec& spec, Seen seen, const Judge& judge) {
  return {.spec = spec, .change = changes_of(question.spec, spec), .seen = std::move(seen), .time = judge.time(spec)};
}

}  // namespace

LayerWork layer_work(const Spec& spec, const Engine& engine) {
  const Spec all = all_checkpointed(spec);
  const PassWork pass = work_of_pass(engine, all);
  if (pass.work.again.empty())
    throw Error(Errc::bad_value, "no layer would run again, whichever are checkpointed", "--checkpointing-under");
  LayerWork work{.numbers = {}, .operators = {}, .again = {}, .costs = {}, .flops = pass.work.flops};
  std::set<std::string> names;
  for (const auto& [number, again] : pass.work.again)
    for (const auto& [name, one] : again.operators) names.emplace(name);
  if (can_keep(all)) work.operators.assign(names.begin(), names.end());
  const Machine machine{engine.card, engine.efficiency, engine.network_bytes_per_s};
  for (const auto& [number, again] : pass.work.again) {
    work.numbers.push_back(number);
    work.again.push_back(again);
    work.flops -= again.all.flops;
    work.costs.push_back(cost_of(all, machine, again, work.operators));
  }
  return work;
}

Spec with_choice(Spec spec, const LayerWork& work, const LayerChoice& choice) {
  spec = all_checkpointed(std::move(spec));
  if (choice.is_empty()) {
    spec.checkpointing = Checkpointing::none;
    return spec;
  }
  spec.checkpoint_layers = texts_of(work, choice.layers);
  if (texts_of(work, choice.keeping) != spec.checkpoint_layers)
    spec.checkpoint_save_layers = texts_of(work, choice.keeping);
  std::set<std::string_view> run;  // by these layers: a name that none runs would be a mistake
  for (std::size_t i = 0; i < choice.layers.size(); ++i)
    if (choice.keeping[i])
      for (const auto& [name, one] : work.again[i].operators) run.insert(name);
  for (std::size_t i = 0; i < choice.kept.size(); ++i)
    if (choice.kept[i] && run.contains(work.operators[i])) spec.checkpoint_save.push_back(work.operators[i]);
  if (std::ranges::find(choice.layers, false) == choice.layers.end()) spec.checkpoint_layers.clear();
  if (spec.checkpoint_save.empty()) spec.checkpoint_save_layers.clear();
  return spec;
}

Again again_of(const LayerWork& work, const LayerChoice& choice) {
  Again again;
  for (std::size_t layer = 0; layer < choice.layers.size(); ++layer) {
    if (!choice.layers[layer]) continue;
    again += work.again[layer].all;
    for (std::size_t one = 0; one < choice.kept.size(); ++one) {
      const auto found = work.again[layer].operators.find(work.operators[one]);
      if (!choice.keeping[layer] || !choice.kept[one] || found == work.again[layer].operators.end()) continue;
      again.flops -= found->second.again.flops;
      again.written_bytes -= found->second.again.written_bytes;
    }
  }
  return again;
}

CheckpointingPlan plan_checkpointing(const Question& question, std::int64_t budget_bytes, const Engine& engine) {
  const LayerWork work = layer_work(question.spec, engine);
  Judge judge(question.spec, work, budget_bytes, engine);
  ChoiceCounts counts;
  const auto fits = [&](const LayerChoice& choice) { return judge.fits(choice); };
  const std::optional<FoundChoice> found = least_recomputation(work.costs, fits, &counts);
  CheckpointingPlan result{.plan = {}, .budget_bytes = budget_bytes, .again = {}, .pass_flops = work.flops};
  result.plan.candidates = static_cast<std::size_t>(counts.candidates);
  result.plan.simulated = counts.asked;
  result.plan.refusals = judge.refusals;
  const Engine endless = without_end(engine);
  const Oracle needs = make_oracle(endless);
  const std::vector<bool> no_layers(work.costs.size());
  const LayerChoice none{no_layers, no_layers, std::vector<bool>(work.operators.size())};
  const auto wanting = [&](const Spec& spec) { return planned(question, spec, needs.simulate(spec), judge); };
  if (!found) {
    result.plan.least = wanting(all_checkpointed(question.spec));
    return result;
  }
  const Spec spec = with_choice(question.spec, work, found->choice);
  result.again = again_of(work, found->choice);
  result.again_seconds = found->seconds;
  result.plan.answers.push_back(planned(question, spec, judge.confirmed(found->choice), judge));
  if (!found->choice.is_empty()) result.plan.refused.push_back(wanting(with_choice(question.spec, work, none)));
  return result;
}

}  // namespace tidemark::plan
