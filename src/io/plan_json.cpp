#include "io/plan_json.h"

namespace tidemark::io {
namespace {

using plan::Planned;

Value planned_value(const Planned& one) {
  Value value = Value::Map();
  value.append("change", one.change);
  value.append("spec", write_fields(one.spec));
  if (one.number) value.append("number", static_cast<std::int64_t>(*one.number));
  Value peak = Value::Map();
  peak.append("allocated_bytes", one.seen.peak.allocated_bytes);
  peak.append("reserved_bytes", one.seen.peak.reserved_bytes);
  peak.append("device_bytes", one.seen.peak.device_bytes);
  value.append("peak", std::move(peak));
  Value seconds = Value::Map();
  seconds.append("estimate", one.time.seconds);
  seconds.append("low", one.time.low_seconds);
  seconds.append("high", one.time.high_seconds);
  seconds.append("of_cards_in_general", one.time.of_cards_in_general);
  value.append("step_seconds", std::move(seconds));
  if (one.seen.report) {
    Value::List assumptions;
    for (const Assumption& assumption : one.seen.report->assumptions)
      if (assumption.moves_peak) assumptions.emplace_back(assumption.what);
    value.append("assumptions", std::move(assumptions));
  }
  if (one.seen.report && !one.seen.report->ranks.empty()) {
    Value::List ranks;
    for (const RankReport& rank : one.seen.report->ranks) {
      Value row = Value::Map();
      row.append("rank", rank.rank);
      row.append("allocated_bytes", rank.peak.allocated_bytes);
      row.append("reserved_bytes", rank.peak.reserved_bytes);
      row.append("device_bytes", rank.peak.device_bytes);
      ranks.push_back(std::move(row));
    }
    value.append("ranks", std::move(ranks));
  }
  return value;
}

Value planned_list(const std::vector<Planned>& all) {
  Value::List list;
  for (const Planned& one : all) list.push_back(planned_value(one));
  return list;
}

}  // namespace

Value progress_value(const plan::Progress& progress) {
  Value map = Value::Map{{"stage", plan::kStageNames[static_cast<std::size_t>(progress.stage)]},
                         {"decided", static_cast<std::int64_t>(progress.decided)},
                         {"candidates", static_cast<std::int64_t>(progress.candidates)},
                         {"simulated", progress.simulated}};
  if (progress.largest > 0) map.append("largest", progress.largest);
  if (progress.step_seconds) map.append("step_seconds", *progress.step_seconds);
  if (progress.peak_device_bytes) map.append("peak_device_bytes", *progress.peak_device_bytes);
  return map;
}

Value priced_value(const std::vector<PricedPlan>& all) {
  Value::List list;
  for (const PricedPlan& one : all) {
    Value value = plan_value(one.plan);
    value.append("place", one.place);
    value.append("price_per_hour", one.per_hour);
    if (!one.plan.answers.empty()) value.append("price_per_1000_steps", cost_of(one));
    list.push_back(std::move(value));
  }
  return list;
}

Value plan_value(const plan::Plan& plan) {
  Value value = Value::Map();
  value.append("schema", kPlanSchema);
  value.append("candidates", static_cast<std::int64_t>(plan.candidates));
  value.append("simulated", plan.simulated);
  value.append("answers", planned_list(plan.answers));
  value.append("refused", planned_list(plan.refused));
  if (plan.least) value.append("least", planned_value(*plan.least));
  Value refusals = Value::Map();
  for (const auto& [why, count] : plan.refusals) refusals.append(why, count);
  value.append("not_simulated", std::move(refusals));
  return value;
}

Value checkpointing_value(const plan::CheckpointingPlan& found) {
  Value value = plan_value(found.plan);
  Value checkpointing = Value::Map();
  if (found.budget_bytes > 0) checkpointing.append("budget_bytes", found.budget_bytes);
  checkpointing.append("flops_again", found.again.flops);
  checkpointing.append("written_bytes_again", found.again.written_bytes);
  checkpointing.append("pass_flops", found.pass_flops);
  value.append("checkpointing", std::move(checkpointing));
  return value;
}

Value largest_value(const plan::LargestPlan& found, plan::Size size) {
  Value value = plan_value(found.plan);
  Value largest = Value::Map();
  largest.append("of", std::string(plan::kSizeNames[static_cast<std::size_t>(size)]));
  largest.append("value", found.value);
  largest.append("refused", found.refused);
  if (!found.why.empty()) largest.append("why", found.why);
  value.append("largest", std::move(largest));
  return value;
}

}  // namespace tidemark::io
