#include "plan/vary.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/check.h"

namespace tidemark::vary {
namespace {

// Trials of a line that go where a guess says; beyond them only sections follow, which bounds the whole.
constexpr std::size_t kGuessedTrials = 8;
constexpr double kFar = 4;            // times the largest size that has been tried
constexpr double kNearlyFull = 0.97;  // of the card: where the allocator may have given back what it kept

bool is_within(const Point& smaller, const Point& larger) {
  for (std::size_t name = 0; name < smaller.size(); ++name)
    if (smaller[name] > larger[name]) return false;
  return true;
}

/// What trials have told, and what follows from it.
class Knowledge {
 public:
  explicit Knowledge(const Question& question) : growth_(question.sizes) {}

  void add(const Point& point, const Outcome& outcome) {
    for (const Tried& other : tried_) {
      const bool is_larger = is_within(other.point, point);
      if (!is_larger && !is_within(point, other.point)) continue;
      const Tried one{point, outcome};
      const Tried &smaller = is_larger ? other : one, &larger = is_larger ? one : other;
      const bool shrinks = smaller.outcome.needed_bytes > larger.outcome.needed_bytes && larger.outcome.is_whole;
      if (shrinks || (larger.outcome.fits && !smaller.outcome.fits)) contradictions_.push_back({smaller, larger});
    }
    tried_.push_back({point, outcome});
    if (outcome.is_whole) growth_.add(point, outcome.needed_bytes);
  }

  /// A trial that fits, and of which no smaller one says otherwise.
  bool is_believed(const Tried& fitting) const {
    return fitting.outcome.fits && std::none_of(tried_.begin(), tried_.end(), [&](const Tried& other) {
             return !other.outcome.fits && is_within(other.point, fitting.point);
           });
  }

  std::vector<Point> largest() const {
    std::vector<Point> points;
    for (const Tried& one : tried_) {
      const auto is_above = [&](const Tried& other) {
        return other.point != one.point && is_within(one.point, other.point) && is_believed(other);
      };
      if (is_believed(one) && std::none_of(tried_.begin(), tried_.end(), is_above)) points.push_back(one.point);
    }
    std::sort(points.begin(), points.end());
    return points;
  }

  const std::vector<Tried>& tried() const { return tried_; }
  const std::vector<Contradiction>& contradictions() const { return contradictions_; }
  const Growth& growth() const { return growth_; }

 private:
  std::vector<Tried> tried_;
  std::vector<Contradiction> contradictions_;
  Growth growth_;
};

/// Finds how far one name can be raised while the others stand still.
class LineSearch {
 public:
  LineSearch(const Question& question, const Knowledge& knowledge, Point at, std::size_t axis)
      : question_(question), knowledge_(knowledge), at_(std::move(at)), axis_(axis), sizes_(question.sizes[axis]) {}

  /// What to try next; empty when it is known.
  std::vector<Point> next() {
    narrow();
    std::vector<Point> points;
    for (const std::int64_t index : indices()) {
      points.push_back(at_);
      points.back()[axis_] = static_cast<std::size_t>(index);
    }
    return points;
  }

 private:
  /// fits_ is the last value that is known to fit, fails_ the first that is known not to; -1 and the count if there is
  /// none.
  void narrow() {
    fits_ = -1, fails_ = static_cast<std::int64_t>(sizes_.size());
    for (const Tried& one : knowledge_.tried()) {
      Point here = at_;
      here[axis_] = one.point[axis_];
      const auto index = static_cast<std::int64_t>(one.point[axis_]);
      if (!one.outcome.fits && is_within(one.point, here)) fails_ = std::min(fails_, index);
      if (is_within(here, one.point) && index > fits_ && knowledge_.is_believed(one)) fits_ = index;
    }
    TM_CHECK(fits_ < fails_, "what fits lies below what does not");
  }

  std::vector<std::int64_t> indices() {
    const std::int64_t open = fails_ - fits_ - 1;
    if (open == 0) return {};
    std::vector<std::int64_t> chosen;
    if (open > static_cast<std::int64_t>(question_.at_once) && guessed_trials_ < kGuessedTrials) chosen = guessed();
    std::erase_if(chosen, [&](std::int64_t index) { return index <= fits_ || index >= fails_; });
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    if (chosen.empty()) return sections(open);
    guessed_trials_ += chosen.size();
    return chosen;
  }

  /// At most two: more would only be tried because they can be.
  std::vector<std::int64_t> guessed() {
    const std::size_t seen = knowledge_.growth().seen_on_line(at_, axis_);
    const bool went_up = guess_ && fits_ >= *guess_, went_down = guess_ && fails_ <= *guess_;
    const auto line = knowledge_.growth().along(at_, axis_);
    if (!line) return first();
    if ((went_up && !was_bound_ && is_flattening()) || (went_down && was_from_beside_)) {
      step_ = step_ ? 2 * step_ : 1;
      if (step_ == 1) return {went_up ? fits_ + 1 : fails_ - 1};  // most often that is all
      return went_up ? pair(fits_ + step_, fits_ + 3 * step_) : pair(fails_ - step_, fails_ - 3 * step_);
    }
    if (guess_ && seen == seen_at_guess_)
      return is_wide() ? std::vector{geometric_middle()} : std::vector<std::int64_t>();
    seen_at_guess_ = seen, was_from_beside_ = line->is_from_beside();
    std::int64_t index = fits_;
    const auto capacity = static_cast<double>(question_.capacity_bytes);
    while (index + 1 < fails_ && line->at(sizes_[static_cast<std::size_t>(index + 1)]) <= capacity) ++index;
    guess_ = std::max<std::int64_t>(index, 0);
    // From one trial of the line alone the guess is a lower bound, and far from all trials it is rough: what lies next
    // to it tells nothing yet.
    was_bound_ = !line->is_from_beside() && (seen == 1 || is_far(*guess_));
    if (was_bound_ && *guess_ > fits_) return {*guess_};
    return pair(*guess_, *guess_ + 1);
  }

  /// The first alone first when only one can be tried, and when it is between those that are open.
  std::vector<std::int64_t> pair(std::int64_t preferred, std::int64_t other) const {
    const bool is_open = preferred > fits_ && preferred < fails_;
    if (!is_open) return {other};
    if (question_.at_once < 2) return {preferred};
    return {preferred, other};
  }

  std::vector<std::int64_t> first() const {
    if (guessed_trials_ > 0 || fits_ >= 0) return {};
    return pair(0, geometric_middle());
  }

  /// The one between those that are open whose size is nearest to the middle by factors.
  std::int64_t geometric_middle() const {
    const double low = sizes_[static_cast<std::size_t>(std::max<std::int64_t>(fits_, 0))];
    const double high = sizes_[static_cast<std::size_t>(fails_ - 1)];
    const std::int64_t middle = fits_ + (fails_ - fits_) / 2;
    if (low <= 0 || high <= low) return middle;
    const double wanted = std::sqrt(low * high);
    const auto begin = sizes_.begin() + (fits_ + 1), end = sizes_.begin() + fails_;
    return std::min<std::int64_t>(fails_ - 1, std::lower_bound(begin, end, wanted) - sizes_.begin());
  }

  bool is_wide() const {
    return fits_ >= 0 && fails_ < static_cast<std::int64_t>(sizes_.size()) &&
           sizes_[static_cast<std::size_t>(fails_)] > 4 * sizes_[static_cast<std::size_t>(fits_)];
  }

  bool is_far(std::int64_t index) const {
    return fits_ >= 0 && sizes_[static_cast<std::size_t>(index)] > kFar * sizes_[static_cast<std::size_t>(fits_)];
  }

  /// Near the card's limit the allocator gives back what it keeps, so runs fit that a line through smaller ones puts
  /// above: no line tells where that ends.
  bool is_flattening() const {
    for (const Tried& one : knowledge_.tried()) {
      Point here = at_;
      here[axis_] = one.point[axis_];
      if (one.point == here && static_cast<std::int64_t>(one.point[axis_]) == fits_)
        return static_cast<double>(one.outcome.needed_bytes) >
               kNearlyFull * static_cast<double>(question_.capacity_bytes);
    }
    return false;
  }

  std::vector<std::int64_t> sections(std::int64_t open) const {
    const std::int64_t count = std::min<std::int64_t>(open, static_cast<std::int64_t>(question_.at_once));
    std::vector<std::int64_t> chosen;
    for (std::int64_t i = 1; i <= count; ++i) chosen.push_back(fits_ + i * (open + 1) / (count + 1));
    return chosen;
  }

  const Question& question_;
  const Knowledge& knowledge_;
  const Point at_;
  const std::size_t axis_;
  const std::vector<double>& sizes_;
  std::int64_t fits_ = -1, fails_ = 0, step_ = 0;
  std::size_t guessed_trials_ = 0, seen_at_guess_ = 0;
  std::optional<std::int64_t> guess_;
  bool was_from_beside_ = false, was_bound_ = false;
};

/// 0, n - 1, and then always the middles of what lies between: what is found at both ends of a stretch bounds it.
std::vector<std::size_t> ends_first(std::size_t count) {
  std::vector<std::size_t> order{0};
  if (count > 1) order.push_back(count - 1);
  std::vector<std::pair<std::size_t, std::size_t>> stretches{{0, count - 1}};
  for (std::size_t next = 0; next < stretches.size(); ++next) {
    const auto [low, high] = stretches[next];
    if (high - low < 2) continue;
    const std::size_t middle = low + (high - low) / 2;
    order.push_back(middle);
    stretches.emplace_back(low, middle), stretches.emplace_back(middle, high);
  }
  return order;
}

/// Every point of the names besides `axis`, ends first.
std::vector<Point> lines_along(const Question& question, std::size_t axis) {
  std::vector<Point> lines{Point(question.sizes.size(), 0)};
  for (std::size_t name = 0; name < question.sizes.size(); ++name) {
    if (name == axis) continue;
    std::vector<Point> longer;
    for (const std::size_t index : ends_first(question.sizes[name].size()))
      for (Point line : lines) line[name] = index, longer.push_back(std::move(line));
    lines = std::move(longer);
  }
  return lines;
}

}  // namespace

Found find_largest(const Question& question, const TryValues& try_values) {
  TM_CHECK(!question.sizes.empty() && question.at_once > 0, "something varies, and something can be tried");
  Knowledge knowledge(question);
  // Along the name with the most values: a line of many costs hardly more than one of few.
  const auto longest = std::max_element(question.sizes.begin(), question.sizes.end(),
                                        [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const auto axis = static_cast<std::size_t>(longest - question.sizes.begin());
  for (Point& at : lines_along(question, axis)) {
    LineSearch line(question, knowledge, std::move(at), axis);
    for (std::vector<Point> points; !(points = line.next()).empty();) {
      const std::vector<Outcome> outcomes = try_values(points);
      TM_CHECK(outcomes.size() == points.size(), "each trial has an outcome");
      for (std::size_t i = 0; i < points.size(); ++i) knowledge.add(points[i], outcomes[i]);
    }
  }
  return {knowledge.largest(), knowledge.tried(), knowledge.contradictions()};
}

std::size_t most_trials(std::size_t values, std::size_t at_once) {
  // A guess of two may begin with one trial left.  A section of k trials leaves a (k+1)th of the values that are open.
  std::size_t rounds = 0;
  for (std::size_t open = values; open > 0; open /= at_once + 1) ++rounds;
  return std::min(values, kGuessedTrials + 1 + rounds * at_once);
}

}  // namespace tidemark::vary
