#include "validate/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tidemark {
namespace {

std::optional<double> share(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

void add_errors(const std::vector<Scored>& all, Statistics& result) {
  std::vector<double> sizes;
  double sum = 0;
  for (const Scored& one : all) {
    const std::optional<double> error = signed_error(one);
    if (!error) continue;
    sum += *error;
    sizes.push_back(std::abs(*error));
    if (*error < 0) ++result.under_predictions;
  }
  if (sizes.empty()) return;
  std::sort(sizes.begin(), sizes.end());
  const std::size_t n = sizes.size();
  result.n = static_cast<std::int64_t>(n);
  result.mape = std::accumulate(sizes.begin(), sizes.end(), 0.0) / static_cast<double>(n);
  result.median = (sizes[(n - 1) / 2] + sizes[n / 2]) / 2;
  result.p90 = sizes[(9 * n + 9) / 10 - 1];
  result.max = sizes.back();
  result.signed_mean = sum / static_cast<double>(n);
}

/// By the nearest rank.
void add_margins(const std::vector<Scored>& all, Statistics& result) {
  std::vector<double> residuals;
  for (const Scored& one : all) {
    const std::optional<double> error = signed_error(one);
    if (error && one.predicted_bytes > 0) residuals.push_back(1 / (1 + *error) - 1);
  }
  std::sort(residuals.begin(), residuals.end());
  const std::size_t n = residuals.size();
  const auto quantile = [&](std::size_t percent) -> std::optional<double> {
    if (n * (100 - percent) < 100) return std::nullopt;
    return residuals[(n * percent + 99) / 100 - 1];
  };
  result.margin_p50 = quantile(50), result.margin_p90 = quantile(90), result.margin_p99 = quantile(99);
}

void add_verdicts(const std::vector<Scored>& all, Statistics& result) {
  for (const Scored& one : all) {
    if (!one.out_of_memory) continue;
    ++result.verdicts;
    if (one.predicted_out_of_memory && !*one.out_of_memory) ++result.false_refusals;
    if (!one.predicted_out_of_memory && *one.out_of_memory) ++result.missed_ooms;
  }
  result.oom_agreement = share(result.verdicts - result.false_refusals - result.missed_ooms, result.verdicts);
}

void add_failures(const std::vector<Scored>& all, Statistics& result) {
  std::int64_t failures = 0;
  double saved_bytes = 0;
  for (const Scored& one : all) {
    if (!one.limits_the_device || !one.out_of_memory || (!*one.out_of_memory && !one.measured_bytes)) continue;
    ++result.judged;
    if (one.predicted_out_of_memory != *one.out_of_memory) {
      ++failures;
      saved_bytes -= static_cast<double>(one.card_bytes);
    } else if (*one.out_of_memory) {
      saved_bytes += static_cast<double>(one.card_bytes);
    } else if (const SecondRound round = second_round(one); round == SecondRound::survived) {
      saved_bytes += static_cast<double>(one.card_bytes - one.limit_bytes);
    } else {
      ++failures;
      if (round == SecondRound::not_known) ++result.not_known;
    }
  }
  result.pef = share(failures, result.judged);
  if (result.judged > 0) result.mcp_bytes = saved_bytes / static_cast<double>(result.judged);
}

}  // namespace

std::optional<double> signed_error(const Scored& one) {
  if (!one.measured_bytes || *one.measured_bytes <= 0 || one.out_of_memory == true) return std::nullopt;
  const std::int64_t difference = one.predicted_bytes - *one.measured_bytes;
  if (std::abs(difference) <= one.rounding_bytes) return 0.0;
  return static_cast<double>(difference) / static_cast<double>(*one.measured_bytes);
}

double second_round_limit_bytes(std::int64_t predicted_bytes, std::int64_t card_bytes) {
  const auto card = static_cast<double>(card_bytes);
  return std::nearbyint(static_cast<double>(predicted_bytes) / card * 100) / 100 * card;
}

SecondRound second_round(const Scored& one) {
  if (one.survived) return *one.survived ? SecondRound::survived : SecondRound::died;
  const double limit = second_round_limit_bytes(one.limit_bytes, one.card_bytes);
  if (one.died_under_bytes && limit <= *one.died_under_bytes) return SecondRound::died;
  const bool enough = one.survived_under_bytes && limit >= *one.survived_under_bytes;
  const bool as_measured =
      one.measured_bytes && static_cast<double>(*one.measured_bytes + one.in_use_at_start_bytes) <= limit;
  return enough || as_measured ? SecondRound::survived : SecondRound::not_known;
}

std::optional<double> Statistics::value(Statistic statistic) const {
  const auto counted = [](std::int64_t count, std::int64_t of) -> std::optional<double> {
    if (of == 0) return std::nullopt;
    return static_cast<double>(count);
  };
  switch (statistic) {
    case Statistic::n: return static_cast<double>(n);
    case Statistic::mape: return mape;
    case Statistic::median: return median;
    case Statistic::p90: return p90;
    case Statistic::max: return max;
    case Statistic::signed_mean: return signed_mean;
    case Statistic::under_predictions: return counted(under_predictions, n);
    case Statistic::false_refusals: return counted(false_refusals, verdicts);
    case Statistic::missed_ooms: return counted(missed_ooms, verdicts);
    case Statistic::oom_agreement: return oom_agreement;
    case Statistic::pef: return pef;
    case Statistic::mcp_bytes: return mcp_bytes;
  }
  return std::nullopt;
}

Statistics statistics_of(const std::vector<Scored>& all) {
  Statistics result;
  add_errors(all, result);
  add_margins(all, result);
  add_verdicts(all, result);
  add_failures(all, result);
  return result;
}

}  // namespace tidemark
