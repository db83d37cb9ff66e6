#include "memory/timeline.h"

#include <algorithm>
#include <utility>

namespace tidemark {

Timeline::Timeline(std::size_t points) : most_points_(std::max<std::size_t>(points, 2)) {}

/// Stretches may become longer, so that this event does not start one.
void Timeline::start_point(std::int64_t event, const Totals& totals) {
  if (event == 0) allocated_peak_.totals = totals;
  if (points_.size() == most_points_) halve();
  if (starts_point(event))
    points_.push_back({event, totals});
  else if (is_higher(totals, points_.back()))
    points_.back() = {event, totals};
}

Timeline::Peaks Timeline::take_peaks() { return std::exchange(peaks_, {last_.allocated_bytes, last_.reserved_bytes}); }

/// Twice as long stretches from here on; a point that loses its partner stands alone.
void Timeline::halve() {
  for (std::size_t i = 0; i < points_.size(); i += 2) {
    const bool second = i + 1 < points_.size() && is_higher(points_[i + 1].totals, points_[i]);
    points_[i / 2] = points_[i + (second ? 1 : 0)];
  }
  points_.resize((points_.size() + 1) / 2);
  stretch_ *= 2;
}

}  // namespace tidemark
