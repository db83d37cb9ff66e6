// How memory grows with what is varied, as far as runs have told: guesses that save runs, and decide nothing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tidemark::vary {

/// A configuration: for each name, which of its values.
using Point = std::vector<std::size_t>;

/// What a configuration has been seen to need.
struct Seen {
  Point point;
  std::int64_t needed_bytes = 0;
};

class Growth {
 public:
  /// `sizes` has, for each name, a number for each value; memory is expected to follow it.
  explicit Growth(const std::vector<std::vector<double>>& sizes) : sizes_(sizes) {}

  void add(const Point& point, std::int64_t needed_bytes) { seen_.push_back({point, needed_bytes}); }

  /// How many runs of the line through `at` along `axis` have told what they need.
  std::size_t seen_on_line(const Point& at, std::size_t axis) const;

  /// What the points of a line will need, from those of the line itself, or of lines beside it.  Empty: no idea.
  class Line {
   public:
    Line(std::vector<double> coefficients, bool from_beside)
        : coefficients_(std::move(coefficients)), from_beside_(from_beside) {}
    /// c0 + c1 size + c2 size²
    double at(double size) const;
    bool is_from_beside() const { return from_beside_; }

   private:
    std::vector<double> coefficients_;
    bool from_beside_;
  };
  std::optional<Line> along(const Point& at, std::size_t axis) const;

 private:
  std::vector<Seen> on_line(const Point& at, std::size_t axis) const;
  std::vector<Seen> apart(const std::vector<Seen>& points, std::size_t axis) const;
  std::optional<Line> through(const std::vector<Seen>& on_line, std::size_t axis) const;
  std::optional<Line> beside(const Point& at, std::size_t axis) const;
  std::optional<Line> between(const Point& at, std::size_t axis) const;
  std::optional<Line> by_products(const Point& at, std::size_t axis) const;
  std::optional<Line> scaled(const Point& at, std::size_t axis) const;

  std::vector<std::vector<double>> sizes_;
  std::vector<Seen> seen_;
};

}  // namespace tidemark::vary
