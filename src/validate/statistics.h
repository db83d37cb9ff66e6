// How far predictions are off: errors of peaks, verdicts on running out of memory, and xMem's two figures.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tidemark {

/// One prediction beside what was measured.
struct Scored {
  std::optional<std::int64_t> measured_bytes = {};
  std::int64_t rounding_bytes = 0;
  std::optional<bool> out_of_memory = {};  // in the real run
  std::int64_t predicted_bytes = 0;
  std::int64_t in_use_at_start_bytes = 0;  // of the process, which measured_bytes leaves out
  std::int64_t limit_bytes = 0;            // what the process is limited to by that prediction
  bool predicted_out_of_memory = false;
  std::int64_t card_bytes = 0;
  bool limits_the_device = false;  // whether the metric counts what a limit on the process counts
  // Of real runs under a limit: the lowest that was survived, the highest that was not.
  std::optional<double> survived_under_bytes = {}, died_under_bytes = {};
  std::optional<bool> survived = {};  // under this very prediction
};

/// (predicted - measured) / measured; 0 where the prediction lies within the rounding.  Nothing for a run that was cut
/// short by running out of memory, since it has no peak, nor for one whose peak is not known.
std::optional<double> signed_error(const Scored& one);

/// What a process may take in the second round of xMem's protocol:
/// torch.cuda.set_per_process_memory_fraction(round(prediction / total, 2)).
double second_round_limit_bytes(std::int64_t predicted_bytes, std::int64_t card_bytes);

enum class SecondRound { survived, died, not_known };

/// Whether the real run survives under the prediction: it was tried; a higher limit was not survived, or a lower one
/// was; or what was measured without a limit, with what was in use before, is at most this one.  A run that gives
/// cached memory back may survive with less than it takes without a limit, so otherwise it is not known.
SecondRound second_round(const Scored& one);

inline constexpr std::array<std::string_view, 12> kStatisticNames{
    "n",           "mape",          "median", "p90",      "max", "signed_mean", "under_predictions", "false_refusals",
    "missed_ooms", "oom_agreement", "pef",    "mcp_bytes"};
enum class Statistic {
  n,
  mape,
  median,
  p90,
  max,
  signed_mean,
  under_predictions,
  false_refusals,
  missed_ooms,
  oom_agreement,
  pef,
  mcp_bytes
};

struct Statistics {
  std::int64_t n = 0;  // of those with an error
  std::optional<double> mape, median, p90, max, signed_mean;
  // Quantiles of (measured - predicted) / predicted, with its sign: what `--margin` keeps free.  Nothing where no row
  // is above the quantile.
  std::optional<double> margin_p50, margin_p90, margin_p99;
  std::int64_t under_predictions = 0;
  std::int64_t verdicts = 0;  // of those where it is known whether the real run ran out of memory
  std::int64_t false_refusals = 0, missed_ooms = 0;
  std::optional<double> oom_agreement;
  // xMem (Middleware 2025), as its repository computes them (plot/plot.py, data_processing): a prediction fails unless
  // its verdict is right and, if the run fits, the run survives under it.  PEF is the share that fails.  A success
  // saves the card's memory less the prediction, or the whole card when running out of memory was foretold; a wrong
  // verdict costs the card; MCP is the mean.
  std::int64_t judged = 0;
  std::int64_t not_known = 0;  // of those: counted as failures, so that PEF is at most, and MCP at least, what it is
  std::optional<double> pef, mcp_bytes;

  /// Nothing where there are no rows for it.
  std::optional<double> value(Statistic statistic) const;
};

/// p90 is the nearest rank; the median of an even number is the mean of the two in the middle.
Statistics statistics_of(const std::vector<Scored>& all);

}  // namespace tidemark
