// A safety margin that is measured: a quantile of the residuals of the corpora in validation/.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "estimate/report.h"

namespace tidemark {

/// (measured - predicted) / predicted, of rows of one modality, in order.
struct Residuals {
  std::string modality;
  std::vector<double> shares;
};

/// Reads "p90": 90.  Throws Error{bad_value} for what is not from p1 to p99.
int parse_quantile(std::string_view text);

/// Fills in report.margin, and judges again.  The rows of `modality` (empty: not known) where they are enough for the
/// quantile to have one above it, else all.  Throws Error{unsupported} where all are too few.
void add_margin(Report& report, const std::vector<Residuals>& groups, const std::string& quantile,
                const std::string& modality);

}  // namespace tidemark
