#include "memory/timeline.h"

#include <algorithm>

namespace tidemark {
namespace {

const Timeline::Point& higher(const Timeline::Point& earlier, const Timeline::Point& later) {
  return later.totals.allocated_bytes > earlier.totals.allocated_bytes ? later : earlier;
}

}  // namespace

Timeline::Timeline(std::size_t points) : most_points_(std::max<std::size_t>(points, 2)) {}

void Timeline::add(const Totals& totals) {
  const Point point{events_, totals};
  if (events_ == 0 || totals.allocated_bytes > allocated_peak_.totals.allocated_bytes) allocated_peak_ = point;
  reserved_peak_bytes_ = std::max(reserved_peak_bytes_, totals.reserved_bytes);
  if (events_++ % stretch_ != 0) {
    points_.back() = higher(points_.back(), point);
    return;
  }
  if (points_.size() ==
      most_points_) {  // twice as long stretches from here on; a point that loses its partner stands alone
    for (std::size_t i = 0; i < points_.size(); i += 2)
      points_[i / 2] = i + 1 < points_.size() ? higher(points_[i], points_[i + 1]) : points_[i];
    points_.resize((points_.size() + 1) / 2);
    stretch_ *= 2;
    if (point.event % stretch_ != 0) {
      points_.back() = higher(points_.back(), point);
      return;
    }
  }
  points_.push_back(point);
}

}  // namespace tidemark
