#include "validate/validation.h"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark {
namespace {

bool limits_the_device(Metric metric) { return metric != Metric::allocated && metric != Metric::active; }

/// What is known of the real run under limits, from those that others' predictions set.
void add_second_rounds(const Measurement& row, Scored& one) {
  for (const auto& [estimator, verdict] : row.verdicts) {
    const auto estimate = row.estimates.find(estimator);
    if (!verdict.survived || estimate == row.estimates.end()) continue;
    const double limit = second_round_limit_bytes(estimate->second, one.card_bytes);
    std::optional<double>& bound = *verdict.survived ? one.survived_under_bytes : one.died_under_bytes;
    bound = !bound ? limit : *verdict.survived ? std::min(*bound, limit) : std::max(*bound, limit);
  }
}

Scored scored(const Measurement& row, std::int64_t card_bytes, const Answer& answer, std::int64_t bytes) {
  const std::int64_t at_start = row.metric == Metric::device_over_start ? answer.in_use_at_start_bytes.value_or(0) : 0;
  Scored one{.measured_bytes = row.measured_bytes,
             .rounding_bytes = row.rounding_bytes,
             .out_of_memory = row.out_of_memory,
             .predicted_bytes = bytes,
             .in_use_at_start_bytes = at_start,
             .limit_bytes = bytes + at_start,
             .predicted_out_of_memory = answer.out_of_memory,
             .card_bytes = card_bytes,
             .limits_the_device = limits_the_device(*row.metric)};
  add_second_rounds(row, one);
  return one;
}

/// An estimator foretells running out of memory by a figure above the card's, unless its verdict was published.
Scored with_estimate(Scored one, const Measurement& row, const std::string& estimator, std::int64_t estimate_bytes) {
  one.predicted_bytes = one.limit_bytes = estimate_bytes;
  one.predicted_out_of_memory = estimate_bytes > one.card_bytes;
  const auto verdict = row.verdicts.find(estimator);
  if (verdict == row.verdicts.end()) return one;
  one.predicted_out_of_memory = verdict->second.out_of_memory;
  one.survived = verdict->second.survived;
  return one;
}

Group group_of(std::vector<std::string> values, const std::vector<const Prediction*>& members) {
  std::vector<Scored> ours;
  std::map<std::string, std::vector<Scored>> theirs;
  for (const Prediction* member : members) {
    ours.push_back(member->scored);
    for (const auto& [estimator, bytes] : member->row->estimates)
      theirs[estimator].push_back(with_estimate(member->scored, *member->row, estimator, bytes));
  }
  Group group{.values = std::move(values), .statistics = statistics_of(ours), .rivals = {}};
  for (const auto& [estimator, all] : theirs) group.rivals[estimator] = statistics_of(all);
  return group;
}

bool is_meant(const Bar& bar, const Prediction& one) {
  return std::all_of(bar.where.begin(), bar.where.end(), [&](const auto& wanted) {
    return group_value(*one.row, one.corpus->info.name, wanted.first) == wanted.second;
  });
}

BarResult judged(const Corpus& corpus, const Bar& bar, const EngineResult& engine) {
  std::vector<Scored> meant;
  for (const Prediction& one : engine.predictions)
    if (one.corpus == &corpus && is_meant(bar, one)) meant.push_back(one.scored);
  BarResult result{.corpus = corpus.info.name, .bar = bar, .value = statistics_of(meant).value(bar.statistic)};
  result.met = result.value && (bar.at == At::most ? *result.value <= bar.limit : *result.value >= bar.limit);
  return result;
}

}  // namespace

bool Validation::bar_missed() const {
  return std::any_of(bars.begin(), bars.end(), [](const BarResult& bar) { return !bar.met; });
}

bool Validation::run_failed() const {
  return std::any_of(left_out.begin(), left_out.end(), [](const LeftOut& one) { return one.failed; });
}

void Validator::add_corpus(const Corpus& corpus) {
  result_.corpora.push_back(&corpus);
  for (const Measurement& row : corpus.rows)
    if (row.left_out) result_.left_out.push_back({corpus.info.name, row.id, *row.left_out, std::nullopt});
}

void Validator::begin_engine(Engine engine, bool stored) {
  result_.engines.push_back({.engine = engine, .stored = stored, .predictions = {}, .groups = {}, .total = {}});
}

void Validator::add(const Corpus& corpus, const Measurement& row, std::int64_t card_bytes, Outcome outcome) {
  EngineResult& engine = result_.engines.back();
  std::optional<std::int64_t> bytes;
  if (outcome.answer) {
    bytes = outcome.answer->bytes(*row.metric);
    if (!bytes)
      outcome.reason = fmt::format("its answer does not tell {}", kMetricNames[static_cast<std::size_t>(*row.metric)]);
  }
  if (bytes) {
    const Scored one = scored(row, card_bytes, *outcome.answer, *bytes);
    engine.predictions.push_back({&corpus, &row, std::move(*outcome.answer), one});
  } else {
    result_.left_out.push_back({corpus.info.name, row.id, std::move(outcome.reason), engine.engine, outcome.failed});
  }
}

void Validator::add_groups(EngineResult& engine) const {
  std::map<std::vector<std::string>, std::vector<const Prediction*>> members;
  std::vector<const Prediction*> all;
  for (const Prediction& one : engine.predictions) {
    std::vector<std::string> values;
    for (const std::string& field : result_.by) values.push_back(group_value(*one.row, one.corpus->info.name, field));
    members[std::move(values)].push_back(&one);
    all.push_back(&one);
  }
  for (const auto& [values, group] : members) engine.groups.push_back(group_of(values, group));
  engine.total = group_of({}, all);
}

void Validator::add_bars(const EngineResult& engine) {
  for (const Corpus* corpus : result_.corpora)
    for (const Bar& bar : corpus->info.bars)
      if (bar.engine == engine.engine) result_.bars.push_back(judged(*corpus, bar, engine));
}

Validation Validator::finish() {
  for (EngineResult& engine : result_.engines) {
    add_groups(engine);
    if (judge_bars_) add_bars(engine);
  }
  return std::move(result_);
}

}  // namespace tidemark
