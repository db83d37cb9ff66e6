#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/measurements.h"
#include "validate/statistics.h"
#include "validate/validation.h"

namespace tidemark {
namespace {

rc::Gen<Scored> any_scored() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::inRange<std::int64_t>(1, 1 << 30), rc::gen::inRange<std::int64_t>(0, 1 << 30),
                     rc::gen::inRange<std::int64_t>(0, 1000), rc::gen::arbitrary<bool>(), rc::gen::arbitrary<bool>()),
      [](const auto& parts) {
        const auto& [measured, predicted, rounding, out, foretold] = parts;
        return Scored{.measured_bytes = measured,
                      .rounding_bytes = rounding,
                      .out_of_memory = out,
                      .predicted_bytes = predicted,
                      .limit_bytes = predicted,
                      .predicted_out_of_memory = foretold,
                      .card_bytes = 1 << 30,
                      .limits_the_device = true};
      });
}

RC_GTEST_PROP(StatisticsProperty, AreInTheirBounds, ()) {
  const auto all = *rc::gen::container<std::vector<Scored>>(any_scored());
  const Statistics s = statistics_of(all);
  RC_ASSERT(s.verdicts == static_cast<std::int64_t>(all.size()));
  RC_ASSERT(s.false_refusals + s.missed_ooms <= s.verdicts);
  if (s.n > 0) {
    RC_ASSERT(*s.median <= *s.max && *s.p90 <= *s.max && *s.mape <= *s.max * (1 + 1e-9));
    RC_ASSERT(std::abs(*s.signed_mean) <= *s.mape * (1 + 1e-9));
    RC_ASSERT(s.under_predictions <= s.n);
  }
  if (s.judged > 0) {
    RC_ASSERT(*s.pef >= 0 && *s.pef <= 1);
    RC_ASSERT(*s.mcp_bytes <= (1 << 30) && *s.mcp_bytes >= -(1 << 30));
    RC_ASSERT(*s.pef >= 1 - *s.oom_agreement - 1e-9);  // a wrong verdict is a failure
  }
}

RC_GTEST_PROP(StatisticsProperty, DoNotDependOnTheOrder, ()) {
  auto all = *rc::gen::container<std::vector<Scored>>(any_scored());
  const Statistics before = statistics_of(all);
  std::reverse(all.begin(), all.end());
  const Statistics after = statistics_of(all);
  RC_ASSERT(before.median == after.median && before.p90 == after.p90 && before.max == after.max);
  RC_ASSERT(before.pef == after.pef && before.oom_agreement == after.oom_agreement);
}

RC_GTEST_PROP(ValidatorProperty, GroupsAddUpToAll, ()) {
  const auto pairs = *rc::gen::container<std::vector<std::pair<std::int64_t, std::int64_t>>>(
      rc::gen::pair(rc::gen::inRange<std::int64_t>(1, 1 << 20), rc::gen::inRange<std::int64_t>(1, 1 << 20)));
  RC_PRE(pairs.size() < 20);
  Corpus corpus = corpus_of(pairs);
  for (Measurement& row : corpus.rows) row.family = *rc::gen::elementOf(std::vector<std::string>{"x", "y", ""});
  Validator validator({"family"}, true);
  validator.add_corpus(corpus);
  validator.begin_engine(Engine::run, true);
  for (std::size_t i = 0; i < corpus.rows.size(); ++i)
    validator.add(corpus, corpus.rows[i], 1 << 30, {.answer = corpus.stored[i], .reason = {}});
  const Validation validation = validator.finish();
  const EngineResult& engine = validation.engines[0];
  std::int64_t n = 0, under = 0;
  double signed_sum = 0;
  for (const Group& group : engine.groups) {
    n += group.statistics.n;
    under += group.statistics.under_predictions;
    signed_sum += group.statistics.signed_mean.value_or(0) * static_cast<double>(group.statistics.n);
  }
  RC_ASSERT(n == engine.total.statistics.n && under == engine.total.statistics.under_predictions);
  const double total = engine.total.statistics.signed_mean.value_or(0) * static_cast<double>(n);
  RC_ASSERT(std::abs(signed_sum - total) <= 1e-6 * (1 + std::abs(total)));
}

}  // namespace
}  // namespace tidemark
