#include "plan/search.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/in_parallel.h"
#include "plan/kinship.h"

namespace tidemark::plan {
namespace {

/// Candidates are taken in waves of this many, whatever the number of cores, so that the same ones are simulated.
constexpr std::size_t kWave = 16;

class Search {
 public:
  Search(const Space& space, Goal goal, const Oracle& oracle, std::size_t answers, const Told& told, Stage stage)
      : space_(space),
        goal_(goal),
        oracle_(oracle),
        wanted_(answers),
        teller_(told, stage, space.candidates.size()),
        seen_(space.candidates.size()),
        times_(space.candidates.size()),
        kinship_(space),
        gone_from_(space.families.size(), std::numeric_limits<std::size_t>::max()) {}

  Outcome run() {
    in_parallel(space_.candidates.size(), [&](std::size_t one) { times_[one] = oracle_.time(space_.spec(one)); });
    std::vector<std::size_t> order = in_order();
    for (std::size_t at = 0; at < order.size() && !is_decided(order[at]);) {
      std::vector<std::size_t> wave;
      for (; at < order.size() && wave.size() < kWave; ++at)
        if (is_open(order[at])) wave.push_back(order[at]);
      look_at_smallest(wave);
      look_at(std::move(wave));
      teller_.has_decided(at);
    }
    teller_.has_decided(order.size());
    return told();
  }

 private:
  /// What fits, the better first: seconds are compared before bytes, or after them.
  auto rank(std::size_t one) const {
    const auto bytes = static_cast<double>(seen_[one]->peak.device_bytes);
    const double seconds = seconds_of(one);
    const auto changes = static_cast<double>(space_.candidates[one].changes);
    switch (goal_) {
      case Goal::least_memory: return std::tuple(bytes, seconds, changes, one);
      case Goal::smallest_change: return std::tuple(changes, seconds, bytes, one);
      case Goal::pareto: return std::tuple(seconds, bytes, changes, one);
      case Goal::fastest: break;
    }
    return std::tuple(seconds, changes, bytes, one);
  }

  double seconds_of(std::size_t one) const { return times_[one].seconds; }
  Found found(std::size_t one) const { return {one, *seen_[one], times_[one]}; }

  /// The best that it can turn out to be, as far as rank() begins.
  std::pair<double, double> promise(std::size_t one) const {
    const auto changes = static_cast<double>(space_.candidates[one].changes);
    switch (goal_) {
      case Goal::least_memory: return {least_bytes(one), seconds_of(one)};
      case Goal::smallest_change: return {changes, seconds_of(one)};
      case Goal::pareto: return {seconds_of(one), least_bytes(one)};
      case Goal::fastest: break;
    }
    return {seconds_of(one), changes};
  }

  /// A smaller pass of the same family takes no more.
  double least_bytes(std::size_t one) const {
    const std::size_t smallest = space_.families[space_.candidates[one].family].front();
    return seen_[smallest] && seen_[smallest]->fits ? static_cast<double>(seen_[smallest]->peak.device_bytes) : 0;
  }

  std::vector<std::size_t> in_order() {
    if (goal_ == Goal::least_memory) look_at_all_smallest();
    std::vector<std::size_t> order(space_.candidates.size());
    for (std::size_t one = 0; one < order.size(); ++one) order[one] = one;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return promise(a) < promise(b); });
    return order;
  }

  void look_at_all_smallest() {
    std::vector<std::size_t> smallest;
    for (const auto& family : space_.families) smallest.push_back(family.front());
    look_at(std::move(smallest));
  }

  std::size_t place_in_family(std::size_t one) const {
    const auto& family = space_.families[space_.candidates[one].family];
    return static_cast<std::size_t>(std::find(family.begin(), family.end(), one) - family.begin());
  }

  /// Not looked at yet, and worth it.
  bool is_open(std::size_t one) const {
    if (seen_[one] || place_in_family(one) >= gone_from_[space_.candidates[one].family]) return false;
    return goal_ != Goal::pareto || !is_beaten(seconds_of(one), least_bytes(one));
  }

  bool is_beaten(double seconds, double bytes) const {
    return std::any_of(front_.begin(), front_.end(),
                       [&](const auto& point) { return point.first <= seconds && point.second <= bytes; });
  }

  /// Nothing from here on can be among the answers.
  bool is_decided(std::size_t next) const {
    if (goal_ == Goal::pareto || fitting_.size() < wanted_) return false;
    const auto [first, second, third, last] = rank(fitting_[wanted_ - 1]);
    return promise(next) > std::pair(first, second);
  }

  /// Of a family of which nothing is known its smallest pass comes first: where that does not fit nothing of it does.
  void look_at_smallest(const std::vector<std::size_t>& wave) {
    std::vector<std::size_t> smallest;
    for (const std::size_t one : wave) {
      const std::size_t first = space_.families[space_.candidates[one].family].front();
      if (std::find(smallest.begin(), smallest.end(), first) == smallest.end()) smallest.push_back(first);
    }
    oracle_.begin && !needs_bytes() ? look_at_beginning(std::move(smallest)) : look_at(std::move(smallest));
  }

  /// Whether it matters how much the smallest pass takes, not only that it fits.
  bool needs_bytes() const { return goal_ == Goal::least_memory || goal_ == Goal::pareto; }

  /// A smallest pass has the most of them in a step: what does not fit mostly shows in the first.
  void look_at_beginning(std::vector<std::size_t> wave) {
    in_turns(
        oracle_.begin, std::move(wave), [&](std::size_t one) { return is_open(one) && !kinship_.has_begun(one); },
        [&](std::size_t one, Seen result) {
          kinship_.note(one, result);
          if (!result.fits) take(one, std::move(result));
        });
  }

  void look_at(std::vector<std::size_t> wave) {
    in_turns(
        oracle_.simulate, std::move(wave), [&](std::size_t one) { return is_open(one); },
        [&](std::size_t one, Seen result) {
          kinship_.note(one, result);
          take(one, std::move(result));
        });
  }

  /// First those of which one may answer for the others.
  void in_turns(const std::function<Seen(const Spec&)>& question, std::vector<std::size_t> wave,
                const std::function<bool(std::size_t)>& is_left,
                const std::function<void(std::size_t, Seen)>& told_of) {
    while (true) {
      std::erase_if(wave, [&](std::size_t one) { return !is_left(one); });
      if (wave.empty()) return;
      const std::vector<std::size_t> turn = kinship_.first_of(wave);
      std::vector<Seen> results = asked_of(question, turn);
      for (std::size_t i = 0; i < turn.size(); ++i) told_of(turn[i], std::move(results[i]));
      std::erase_if(wave, [&](std::size_t one) { return std::find(turn.begin(), turn.end(), one) != turn.end(); });
    }
  }

  std::vector<Seen> asked_of(const std::function<Seen(const Spec&)>& question, const std::vector<std::size_t>& wave) {
    std::vector<Seen> results(wave.size());
    in_parallel(wave.size(), [&](std::size_t i) {
      results[i] = question(space_.spec(wave[i]));
      teller_.simulated();
    });
    return results;
  }

  void take(std::size_t one, Seen result) {
    ++outcome_.simulated;
    seen_[one] = std::move(result);
    if (seen_[one]->fits && oracle_.confirm && is_wanted(one)) seen_[one] = oracle_.confirm(space_.spec(one));
    const Seen& seen = *seen_[one];
    if (!seen.refusal.empty()) {
      ++outcome_.refusals[seen.refusal];
      return;
    }
    if (!seen.fits) {
      note_gone(one);
      for (const std::size_t other : kinship_.gone_with(one, seen)) {
        if (!seen_[other]) seen_[other] = seen;
        note_gone(other);
      }
      return;
    }
    front_.emplace_back(seconds_of(one), static_cast<double>(seen.peak.device_bytes));
    fitting_.insert(std::upper_bound(fitting_.begin(), fitting_.end(), one,
                                     [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); }),
                    one);
    teller_.has_best(seconds_of(fitting_.front()), seen_[fitting_.front()]->peak.device_bytes);
  }

  void note_gone(std::size_t one) {
    std::size_t& gone = gone_from_[space_.candidates[one].family];
    gone = std::min(gone, place_in_family(one));
  }

  /// As good as what was found so far.
  bool is_wanted(std::size_t one) const {
    const Seen& seen = *seen_[one];
    if (goal_ == Goal::pareto) {
      const std::pair here(seconds_of(one), static_cast<double>(seen.peak.device_bytes));
      return std::find(front_.begin(), front_.end(), here) != front_.end() || !is_beaten(here.first, here.second);
    }
    return fitting_.size() < wanted_ || rank(one) < rank(fitting_[wanted_ - 1]);
  }

  Outcome told() {
    if (goal_ == Goal::pareto) keep_front();
    for (std::size_t i = 0; i < fitting_.size() && (goal_ == Goal::pareto || i < wanted_); ++i)
      outcome_.answers.push_back(found(fitting_[i]));
    add_refused();
    return std::move(outcome_);
  }

  void keep_front() {
    double least = std::numeric_limits<double>::infinity();
    std::erase_if(fitting_, [&](std::size_t one) {
      const auto bytes = static_cast<double>(seen_[one]->peak.device_bytes);
      if (bytes >= least) return true;
      least = bytes;
      return false;
    });
  }

  /// Those that promised more than the first answer and were seen not to fit, of each family the smallest.
  void add_refused() {
    if (goal_ == Goal::least_memory) return;
    std::vector<std::size_t> refused;
    for (std::size_t one = 0; one < seen_.size(); ++one)
      if (seen_[one] && !seen_[one]->fits && seen_[one]->refusal.empty() && is_better_than_answer(one))
        refused.push_back(one);
    std::stable_sort(refused.begin(), refused.end(),
                     [&](std::size_t a, std::size_t b) { return promise(a) < promise(b); });
    if (refused.size() > wanted_) refused.resize(wanted_);
    for (const std::size_t one : refused) outcome_.refused.push_back(found(one));
  }

  bool is_better_than_answer(std::size_t one) const {
    if (fitting_.empty()) return true;
    const auto [first, second, third, last] = rank(fitting_.front());
    return promise(one) < std::pair(first, second);
  }

  const Space& space_;
  const Goal goal_;
  const Oracle& oracle_;
  const std::size_t wanted_;
  Teller teller_;
  std::vector<std::optional<Seen>> seen_;
  std::vector<StepTime> times_;
  Kinship kinship_;
  std::vector<std::size_t> gone_from_;            // of each family: the first place that does not fit
  std::vector<std::size_t> fitting_;              // by rank
  std::vector<std::pair<double, double>> front_;  // seconds and bytes of what fits
  Outcome outcome_;
};

}  // namespace

Outcome search(const Space& space, Goal goal, const Oracle& oracle, std::size_t answers, const Told& told,
               Stage stage) {
  return Search(space, goal, oracle, answers, told, stage).run();
}

}  // namespace tidemark::plan
