#include "memory/timeline.h"

#include <algorithm>
#include <utility>

namespace tidemark {
namespace {

bool is_higher(const Totals& later, const Timeline::Point& earlier) {
  return later.allocated_bytes > earlier.totals.allocated_bytes;
}

}  // namespace

Timeline::Timeline(std::size_t points) : most_points_(std::max<std::size_t>(points, 2)) {}

void Timeline::add(const Totals& totals) {
  const std::int64_t event = events_++;
  last_ = totals;
  if (totals.allocated_bytes > peaks_.allocated_bytes) {  // which are never above those of the whole time
    peaks_.allocated_bytes = totals.allocated_bytes;
    if (is_higher(totals, allocated_peak_)) allocated_peak_ = {event, totals};
  }
  if (totals.reserved_bytes > peaks_.reserved_bytes) {
    peaks_.reserved_bytes = totals.reserved_bytes;
    reserved_peak_bytes_ = std::max(reserved_peak_bytes_, totals.reserved_bytes);
  }
  if (starts_point(event))
    start_point(event, totals);
  else if (is_higher(totals, points_.back()))
    points_.back() = {event, totals};
}

void Timeline::add_fallen(const Totals& totals) {
  const std::int64_t event = events_++;
  last_ = totals;
  if (starts_point(event)) start_point(event, totals);
}

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
