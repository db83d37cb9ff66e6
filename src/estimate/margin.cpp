#include "estimate/margin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/number.h"
#include "base/value.h"
#include "estimate/verdict.h"

namespace tidemark {
namespace {

bool are_enough(const Residuals& rows, int percent) {
  return static_cast<std::int64_t>(rows.shares.size()) * (100 - percent) >= 100;
}

/// The nearest rank, as of every quantile of tidemark validate.
double quantile_of(const std::vector<double>& sorted, int percent) {
  const auto n = static_cast<double>(sorted.size());
  const auto rank = static_cast<std::size_t>(std::ceil(n * percent / 100));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

Residuals all_of(const std::vector<Residuals>& groups) {
  Residuals all{"all", {}};
  for (const Residuals& group : groups) all.shares.insert(all.shares.end(), group.shares.begin(), group.shares.end());
  std::sort(all.shares.begin(), all.shares.end());
  return all;
}

}  // namespace

int parse_quantile(std::string_view text) {
  const int percent = text.starts_with('p') ? parse_number<int>(text.substr(1)).value_or(0) : 0;
  if (percent < 1 || percent > 99)
    throw Error(Errc::bad_value, fmt::format("{} is not a quantile", Value(text).quoted()), "--margin",
                "write p90 for what nine of ten measured peaks did not pass; p1 to p99");
  return percent;
}

void add_margin(Report& report, const std::vector<Residuals>& groups, const std::string& quantile,
                const std::string& modality) {
  const int percent = parse_quantile(quantile);
  const auto found = std::find_if(groups.begin(), groups.end(), [&](const Residuals& group) {
    return group.modality == modality && are_enough(group, percent);
  });
  const Residuals rows = found != groups.end() ? *found : all_of(groups);
  if (!are_enough(rows, percent))
    throw Error(Errc::unsupported,
                fmt::format("{} measured residuals have no {} that one of them is above", rows.shares.size(), quantile),
                "--margin", "take a lower quantile");
  const double share = quantile_of(rows.shares, percent);
  report.margin = {quantile, rows.modality, static_cast<std::int64_t>(rows.shares.size()), share,
                   std::max<std::int64_t>(std::llround(share * static_cast<double>(report.peak.device_bytes)), 0)};
  judge(report);
}

}  // namespace tidemark
