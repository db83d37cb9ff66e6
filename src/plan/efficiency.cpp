#include "plan/efficiency.h"

#include <algorithm>
#include <cmath>

namespace tidemark::plan {
namespace {

/// Where a value lies on an axis: between which points, how far, and how far beyond the last.
struct Place {
  std::size_t before = 0;
  double part = 0, beyond = 0;
};

Place place_on(const std::vector<double>& axis, double value) {
  if (value <= axis.front()) return {};
  if (value >= axis.back()) return {axis.size() - 2, 1, value - axis.back()};
  const auto after = static_cast<std::size_t>(std::upper_bound(axis.begin(), axis.end(), value) - axis.begin());
  return {after - 1, (value - axis[after - 1]) / (axis[after] - axis[after - 1]), 0};
}

/// Nowhere less than at a point before it on any axis.
void rise(std::vector<double>& values, const std::array<std::size_t, 3>& counts) {
  const std::array<std::size_t, 3> strides{counts[1] * counts[2], counts[2], 1};
  for (std::size_t at = 0; at < values.size(); ++at)
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (at / strides[axis] % counts[axis] > 0) values[at] = std::max(values[at], values[at - strides[axis]]);
}

}  // namespace

ProductTimes::ProductTimes(Axes axes, const std::vector<double>& shares) : logs_(std::move(axes)) {
  for (std::vector<double>& axis : logs_)
    for (double& point : axis) point = std::log2(point);
  const auto& [m, n, k] = logs_;
  for (std::size_t at = 0; at < shares.size(); ++at) {
    const std::size_t plane = at / k.size();
    log_flops_.push_back(1 + m[plane / n.size()] + n[plane % n.size()] + k[at % k.size()] - std::log2(shares[at]));
  }
  rise(log_flops_, {m.size(), n.size(), k.size()});
}

double ProductTimes::peak_flops(const ProductShape& shape) const {
  if (log_flops_.empty()) return shape.flops();
  const std::array<Place, 3> places{place_on(logs_[0], std::log2(shape.m)), place_on(logs_[1], std::log2(shape.n)),
                                    place_on(logs_[2], std::log2(shape.k))};
  double log_flops = places[0].beyond + places[1].beyond + places[2].beyond;
  for (std::size_t corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::size_t at = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const bool after = (corner >> axis & 1) != 0;
      weight *= after ? places[axis].part : 1 - places[axis].part;
      at = at * logs_[axis].size() + places[axis].before + (after ? 1 : 0);
    }
    if (weight > 0) log_flops += weight * log_flops_[at];
  }
  return std::exp2(log_flops);
}

double Curve::between(double size) const {
  if (size <= at.front()) return values.front();
  if (size >= at.back()) return values.back();
  const auto after = static_cast<std::size_t>(std::upper_bound(at.begin(), at.end(), size) - at.begin());
  const double part = std::log(size / at[after - 1]) / std::log(at[after] / at[after - 1]);
  return values[after - 1] * std::pow(values[after] / values[after - 1], part);
}

double Efficiency::attention_share(const AttentionShape& shape) const {
  if (attention.empty()) return 1;
  const auto& nearest = *std::min_element(attention.begin(), attention.end(), [&](const auto& a, const auto& b) {
    return std::abs(a.head_width - shape.head_width) < std::abs(b.head_width - shape.head_width);
  });
  const Curve& curve = shape.backward ? nearest.backward : nearest.forward;
  return curve.between(shape.tokens) * std::min(1.0, shape.tokens / curve.at.front());  // as one tile of many
}

const Efficiency& EfficiencyTable::of(std::string_view card) const {
  const auto found = cards.find(card);
  return found == cards.end() ? general : found->second;
}

double bus_share(Collective operation, double ranks) {
  const double part = ranks > 1 ? (ranks - 1) / ranks : 0;
  return operation == Collective::all_reduce ? 2 * part : part;
}

}  // namespace tidemark::plan
