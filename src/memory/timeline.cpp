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

Timeline::Peaks Timeline::take_peaks() {
  share_peaks();
  return std::exchange(shared_peaks_, {});
}

void Timeline::share_peaks() {
  const Peaks now = std::exchange(peaks_, {last_.allocated_bytes, last_.reserved_bytes});
  const auto raise = [](std::int64_t& peak, std::int64_t bytes) { peak = std::max(peak, bytes); };
  raise(shared_peaks_.allocated_bytes, now.allocated_bytes);
  raise(shared_peaks_.reserved_bytes, now.reserved_bytes);
  for (const OpenStage& open : open_stages_) raise(stages_[open.index].peak_allocated_bytes, now.allocated_bytes);
}

void Timeline::begin_stage(std::string name) {
  share_peaks();
  const auto same = std::find_if(stages_.begin(), stages_.end(), [&](const Stage& one) { return one.name == name; });
  open_stages_.push_back({static_cast<std::size_t>(same - stages_.begin()), last_.allocated_bytes});
  if (same == stages_.end()) stages_.push_back({.name = std::move(name)});
}

void Timeline::end_stage() {
  share_peaks();
  const OpenStage ended = open_stages_.back();
  open_stages_.pop_back();
  std::int64_t& kept_bytes = stages_[ended.index].kept_bytes;
  kept_bytes = std::max(kept_bytes, last_.allocated_bytes - ended.began_bytes);
}

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
