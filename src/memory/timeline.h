// Memory over time, in few points: of each stretch of events those where allocated and reserved memory were highest.
#pragma once
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "memory/allocator.h"

namespace tidemark {

class Timeline {
 public:
  struct Point {
    std::int64_t event = 0;  // how many events came before
    Totals totals;
    bool operator==(const Point&) const = default;
  };

  /// At most `stretches` stretches, of one or two points; at least 2.
  explicit Timeline(std::size_t stretches = 2000);

  /// The totals after the next event.
  void add(const Totals& totals);
  /// The same where none of them has risen.
  void add_fallen(const Totals& totals);

  /// In the order of events.
  std::vector<Point> points() const;
  std::int64_t events() const { return events_; }
  /// The first event at which allocated memory was highest, and the highest reserved memory.
  const Point& allocated_peak() const { return allocated_peak_; }
  std::int64_t reserved_peak_bytes() const { return reserved_peak_bytes_; }
  /// After the latest event.
  const Totals& last() const { return last_; }
  struct Peaks {
    std::int64_t allocated_bytes = 0, reserved_bytes = 0;
  };
  /// The highest since the last call, which begin anew with what is there now: torch.cuda.reset_peak_memory_stats.
  Peaks take_peaks();

  /// A named part of a program: the peak of all times that it ran, and the most that one left.
  struct Stage {
    std::string name;
    std::int64_t peak_allocated_bytes = 0;
    std::int64_t kept_bytes = std::numeric_limits<std::int64_t>::min();
  };
  /// A stage may begin within another.
  void begin_stage(std::string name);
  /// The latest that began is over.
  void end_stage();
  /// In the order in which they first began.
  const std::vector<Stage>& stages() const { return stages_; }

 private:
  /// Peaks go to the stages that are open and to the next take_peaks(), and begin with the current totals.
  void share_peaks();

  static bool is_higher(const Totals& later, const Point& earlier) {
    return later.allocated_bytes > earlier.totals.allocated_bytes;
  }
  /// The first points at which each was highest.
  struct Stretch {
    Point allocated, reserved;
    void take(const Point& later) {
      if (is_higher(later.totals, allocated)) allocated = later;
      if (later.totals.reserved_bytes > reserved.totals.reserved_bytes) reserved = later;
    }
  };
  bool starts_stretch(std::int64_t event) const { return (event & (stretch_events_ - 1)) == 0; }
  void start_stretch(std::int64_t event, const Totals& totals);
  void halve();

  std::size_t most_stretches_;
  std::int64_t events_ = 0, stretch_events_ = 1;  // a power of two
  std::vector<Stretch> stretches_;
  Point allocated_peak_;
  Totals last_;
  Peaks peaks_, shared_peaks_;
  struct OpenStage {
    std::size_t index = 0;
    std::int64_t began_bytes = 0;
  };
  std::vector<Stage> stages_;
  std::vector<OpenStage> open_stages_;
  std::int64_t reserved_peak_bytes_ = 0;
};

// Here, and not in the source file, what every event comes by.

inline void Timeline::add(const Totals& totals) {
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
  if (starts_stretch(event))
    start_stretch(event, totals);
  else
    stretches_.back().take({event, totals});
}

inline void Timeline::add_fallen(const Totals& totals) {
  const std::int64_t event = events_++;
  last_ = totals;
  if (starts_stretch(event)) start_stretch(event, totals);
}

}  // namespace tidemark
