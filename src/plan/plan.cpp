#include "plan/plan.h"

namespace tidemark::plan {
namespace {

Planned planned(const Question& question, const Space& space, const Found& found) {
  const Spec spec = space.spec(found.candidate);
  return {.spec = spec,
          .number = space.candidates[found.candidate].number,
          .change = changes_of(question.spec, spec),
          .seen = found.seen,
          .time = found.time};
}

}  // namespace

Plan plan_in(const Question& question, const Space& space, Goal goal, const Engine& engine) {
  const Oracle oracle = make_oracle(engine);
  Outcome outcome = search(space, goal, oracle, question.answers, question.told);
  Plan plan;
  plan.candidates = space.candidates.size();
  plan.simulated = outcome.simulated;
  plan.refusals = std::move(outcome.refusals);
  for (const Found& found : outcome.answers) plan.answers.push_back(planned(question, space, found));
  const Engine endless = without_end(engine);
  const Oracle needs = make_oracle(endless);
  for (const Found& found : outcome.refused) {
    Planned& refused = plan.refused.emplace_back(planned(question, space, found));
    refused.seen.peak = needs.simulate(refused.spec).peak;
  }
  if (plan.answers.empty()) {
    const Outcome least = search(space, Goal::least_memory, needs, 1, question.told, Stage::least);
    plan.simulated += least.simulated;
    if (!least.answers.empty())
      plan.least = planned(question, space, least.answers.front());
    else if (!question.share)
      throw_refusal(engine, space.spec(0));
  }
  return plan;
}

std::int64_t unsimulated_count(const Plan& plan) {
  std::int64_t count = 0;
  for (const auto& [why, configurations] : plan.refusals) count += configurations;
  return count;
}

bool is_undecided(const Plan& plan) {
  return plan.answers.empty() && 2 * unsimulated_count(plan) >= static_cast<std::int64_t>(plan.candidates);
}

Plan make_plan(const Question& question, Goal goal, const Engine& engine) {
  const Space space = make_space(question.spec, question.bounds, question.freedom);
  if (!question.share) return plan_in(question, space, goal, engine);
  const Share& share = *question.share;
  const Space mine = shared(space, share);
  if (!share.is_part() && mine.candidates.empty()) throw_refusal(engine, space.spec(0));
  Plan plan = plan_in(question, mine, goal, engine);
  if (share.is_part()) return plan;
  plan.candidates = static_cast<std::size_t>(share.candidates);
  plan.simulated += share.simulated;
  plan.refusals.clear();
  for (const auto& [why, count] : share.refusals) plan.refusals.emplace(why, static_cast<std::int64_t>(count));
  return plan;
}

}  // namespace tidemark::plan
