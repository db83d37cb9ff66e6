#include "memory/timeline.h"

#include <algorithm>
#include <utility>

namespace tidemark {

Timeline::Timeline(std::size_t stretches) : most_stretches_(std::max<std::size_t>(stretches, 2)) {}

std::vector<Timeline::Point> Timeline::points() const {
  std::vector<Point> points;
  points.reserve(stretches_.size());
  for (const auto& [allocated, reserved] : stretches_) {
    const bool has_both = reserved.totals.reserved_bytes > allocated.totals.reserved_bytes;
    if (has_both && reserved.event < allocated.event) points.push_back(reserved);
    points.push_back(allocated);
    if (has_both && reserved.event > allocated.event) points.push_back(reserved);
  }
  return points;
}

/// Stretches may become longer, so that this event does not start one.
void Timeline::start_stretch(std::int64_t event, const Totals& totals) {
  const Point point{event, totals};
  if (event == 0) allocated_peak_.totals = totals;
  if (stretches_.size() == most_stretches_) halve();
  if (starts_stretch(event))
    stretches_.push_back({point, point});
  else
    stretches_.back().take(point);
}

Timeline::Peaks Timeline::take_peaks() { return std::exchange(peaks_, {last_.allocated_bytes, last_.reserved_bytes}); }

/// Twice as long stretches from here on; one that has no partner stands alone.
void Timeline::halve() {
  for (std::size_t i = 0; i < stretches_.size(); i += 2) {
    Stretch both = stretches_[i];
    if (i + 1 < stretches_.size()) {
      both.take(stretches_[i + 1].allocated);
      both.take(stretches_[i + 1].reserved);
    }
    stretches_[i / 2] = both;
  }
  stretches_.resize((stretches_.size() + 1) / 2);
  stretch_events_ *= 2;
}

}  // namespace tidemark
