#include "plan/growth.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace tidemark::vary {
namespace {

constexpr double kApart = 0.9;

/// Solves a x = b by elimination; nothing when the rows do not decide it.
std::optional<std::vector<double>> solve(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t pivot = i;
    for (std::size_t row = i + 1; row < n; ++row)
      if (std::abs(a[row][i]) > std::abs(a[pivot][i])) pivot = row;
    if (std::abs(a[pivot][i]) < 1e-12) return std::nullopt;
    std::swap(a[i], a[pivot]), std::swap(b[i], b[pivot]);
    for (std::size_t row = i + 1; row < n; ++row) {
      const double factor = a[row][i] / a[i][i];
      for (std::size_t column = i; column < n; ++column) a[row][column] -= factor * a[i][column];
      b[row] -= factor * b[i];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t column = i + 1; column < n; ++column) b[i] -= a[i][column] * b[column];
    b[i] /= a[i][i];
  }
  return b;
}

}  // namespace

double Growth::Line::at(double size) const {
  double sum = 0, power = 1;
  for (const double coefficient : coefficients_) sum += coefficient * power, power *= size;
  return sum;
}

std::vector<Seen> Growth::on_line(const Point& at, std::size_t axis) const {
  std::vector<Seen> points;
  for (const Seen& seen : seen_) {
    Point projected = seen.point;
    projected[axis] = at[axis];
    if (projected == at) points.push_back(seen);
  }
  std::sort(points.begin(), points.end(),
            [axis](const Seen& a, const Seen& b) { return a.point[axis] < b.point[axis]; });
  return points;
}

std::size_t Growth::seen_on_line(const Point& at, std::size_t axis) const { return on_line(at, axis).size(); }

/// The largest, and smaller ones apart from each other: blocks are rounded, so neighbours tell little of a slope.
std::vector<Seen> Growth::apart(const std::vector<Seen>& points, std::size_t axis) const {
  std::vector<Seen> chosen{points.back()};
  for (auto seen = points.rbegin(); seen != points.rend(); ++seen)
    if (sizes_[axis][seen->point[axis]] < kApart * sizes_[axis][chosen.back().point[axis]]) chosen.push_back(*seen);
  return chosen.size() > 1 ? chosen : std::vector<Seen>(points.rbegin(), points.rend());
}

std::optional<Growth::Line> Growth::through(const std::vector<Seen>& on_line, std::size_t axis) const {
  const std::vector<Seen> points = apart(on_line, axis);
  const auto size = [&](std::size_t i) { return sizes_[axis][points[i].point[axis]]; };
  const auto bytes = [&](std::size_t i) { return static_cast<double>(points[i].needed_bytes); };
  if (points.size() == 1) {  // at most proportional: what does not grow (weights) is counted as if it did
    if (size(0) <= 0) return std::nullopt;
    return Line({0, bytes(0) / size(0)}, false);
  }
  const double slope = (bytes(0) - bytes(1)) / (size(0) - size(1));
  if (points.size() > 2) {
    // Attention scores and the like grow with the square: bent upwards, three points tell it.
    const double slope_before = (bytes(1) - bytes(2)) / (size(1) - size(2));
    const double bend = (slope - slope_before) / (size(0) - size(2));
    if (slope_before > 0 && bend > 0) {
      const double c1 = slope - bend * (size(0) + size(1));
      return Line({bytes(0) - c1 * size(0) - bend * size(0) * size(0), c1, bend}, false);
    }
  }
  if (slope <= 0) return std::nullopt;
  return Line({bytes(0) - slope * size(0), slope}, false);
}

/// A sum of products of the sizes (1, b, s, bs for two names), by least squares; the largest runs count most.
std::optional<Growth::Line> Growth::by_products(const Point& at, std::size_t axis) const {
  const std::size_t names = sizes_.size(), terms = std::size_t{1} << names;
  if (names > 4 || seen_.size() < terms) return std::nullopt;
  std::vector<double> scale(names, 0);
  double most_bytes = 0;
  for (std::size_t name = 0; name < names; ++name) {
    std::set<std::size_t> different;
    for (const Seen& seen : seen_) {
      different.insert(seen.point[name]);
      scale[name] = std::max(scale[name], std::abs(sizes_[name][seen.point[name]]));
    }
    if (different.size() < 2 || scale[name] == 0) return std::nullopt;
  }
  for (const Seen& seen : seen_) most_bytes = std::max(most_bytes, static_cast<double>(seen.needed_bytes));
  const auto product = [&](const Point& point, std::size_t term, std::size_t without) {
    double value = 1;
    for (std::size_t name = 0; name < names; ++name)
      if ((term >> name & 1) && name != without) value *= sizes_[name][point[name]] / scale[name];
    return value;
  };
  std::vector<std::vector<double>> a(terms, std::vector<double>(terms, 0));
  std::vector<double> b(terms, 0);
  for (const Seen& seen : seen_) {
    const double bytes = static_cast<double>(seen.needed_bytes) / most_bytes, weight = bytes * bytes;
    for (std::size_t i = 0; i < terms; ++i) {
      for (std::size_t j = 0; j < terms; ++j)
        a[i][j] += weight * product(seen.point, i, names) * product(seen.point, j, names);
      b[i] += weight * bytes * product(seen.point, i, names);
    }
  }
  const auto solved = solve(std::move(a), std::move(b));
  if (!solved) return std::nullopt;
  double constant = 0, slope = 0;
  for (std::size_t term = 0; term < terms; ++term)
    (term >> axis & 1 ? slope : constant) += (*solved)[term] * product(at, term, axis) * most_bytes;
  slope /= scale[axis];
  if (slope <= 0) return std::nullopt;
  return Line({constant, slope}, true);
}

/// From the one line that is known: what grows on it grows with the other names too.
std::optional<Growth::Line> Growth::scaled(const Point& at, std::size_t axis) const {
  for (const Seen& seen : seen_) {
    const std::vector<Seen> points = on_line(seen.point, axis);
    const auto line = points.size() > 1 ? through(points, axis) : std::nullopt;
    if (!line) continue;
    double ratio = 1;
    for (std::size_t name = 0; name < sizes_.size(); ++name)
      if (name != axis) ratio *= sizes_[name][at[name]] / sizes_[name][seen.point[name]];
    const double constant = line->at(0);
    if (!std::isfinite(ratio) || ratio <= 0) return std::nullopt;
    const double size = sizes_[axis][points.back().point[axis]];
    if (size <= 0) return std::nullopt;
    return Line({constant, ratio * (line->at(size) - constant) / size}, true);
  }
  return std::nullopt;
}

/// Of two names: what does not grow is taken from a line that tells it, and what grows from the two lines nearest to
/// this one, as a power of the other name between them.  s, s² and sums of both are such, nearly.
std::optional<Growth::Line> Growth::between(const Point& at, std::size_t axis) const {
  if (sizes_.size() != 2) return std::nullopt;
  const std::size_t other = 1 - axis;
  std::optional<double> constant;
  std::map<std::size_t, const Seen*> top;  // of each line
  for (const Seen& seen : seen_) {
    const Seen*& highest = top[seen.point[other]];
    if (!highest || highest->point[axis] < seen.point[axis]) highest = &seen;
    const std::vector<Seen> points = on_line(seen.point, axis);
    if (const auto line = constant || points.size() < 2 ? std::nullopt : through(points, axis)) constant = line->at(0);
  }
  if (!constant) return std::nullopt;
  struct Slope {
    double log_size, log_slope;
  };
  std::vector<Slope> slopes;  // in the order of the lines
  std::size_t below = 0;      // of them
  for (const auto& [index, seen] : top) {
    const double grown = static_cast<double>(seen->needed_bytes) - *constant, size = sizes_[axis][seen->point[axis]];
    if (grown <= 0 || size <= 0 || sizes_[other][index] <= 0) continue;
    slopes.push_back({std::log(sizes_[other][index]), std::log(grown / size)});
    if (index < at[other]) ++below;
  }
  if (slopes.size() < 2 || sizes_[other][at[other]] <= 0) return std::nullopt;
  const std::size_t second = std::clamp<std::size_t>(below, 1, slopes.size() - 1);
  const Slope &a = slopes[second - 1], &b = slopes[second];
  const double power = (b.log_slope - a.log_slope) / (b.log_size - a.log_size);
  const double log_slope = a.log_slope + power * (std::log(sizes_[other][at[other]]) - a.log_size);
  return Line({*constant, std::exp(log_slope)}, true);
}

std::optional<Growth::Line> Growth::beside(const Point& at, std::size_t axis) const {
  if (sizes_.size() < 2) return std::nullopt;
  if (auto line = between(at, axis)) return line;
  if (auto line = by_products(at, axis)) return line;
  return scaled(at, axis);
}

std::optional<Growth::Line> Growth::along(const Point& at, std::size_t axis) const {
  const std::vector<Seen> points = on_line(at, axis);
  if (points.size() > 1)
    if (auto line = through(points, axis)) return line;
  if (auto line = beside(at, axis)) return line;
  return points.size() == 1 ? through(points, axis) : std::nullopt;
}

}  // namespace tidemark::vary
