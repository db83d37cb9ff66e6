#include "plan/largest.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/in_parallel.h"

namespace tidemark::plan {
namespace {

constexpr std::int64_t kMost = 1 << 20;

std::int64_t size_of(const Spec& spec, Size size) {
  switch (size) {
    case Size::batch: return samples_per_pass(spec);
    case Size::seq: return spec.seq;
    case Size::images: return spec.images;
  }
  return 0;
}

Spec sized(Spec spec, Size size, std::int64_t value) {
  switch (size) {
    case Size::batch: spec.batch = spec.pp ? value * spec.pp->microbatches : value; break;
    case Size::seq: spec.seq = value; break;
    case Size::images: spec.images = value; break;
  }
  return spec;
}

/// Of each family its smallest pass, which comes farthest.
class Largest {
 public:
  Largest(Question question, Size size, const Engine& engine)
      : question_(std::move(question)), size_(size), engine_(engine), oracle_(make_oracle(engine)) {
    if (size == Size::batch) question_.bounds.samples_per_step = 0;
    start_ = std::max<std::int64_t>(size_of(question_.spec, size), 1);
  }

  LargestPlan find() {
    const Space space = make_space(question_.spec, question_.bounds, question_.freedom);
    LargestPlan found;
    const std::vector<Spec> ways = by_memory(space);
    for (std::size_t at = 0; at < ways.size(); at += kWave) {
      const std::size_t count = std::min(kWave, ways.size() - at);
      std::vector<Seen> next(count);
      in_parallel(count, [&](std::size_t i) { next[i] = seen(ways[at + i], above(ways[at + i], found.value)); });
      simulated_ += static_cast<std::int64_t>(count);
      for (std::size_t i = 0; i < count; ++i) raise(ways[at + i], next[i], found);
    }
    found.refused = found.value + 1;
    if (is_full_) found.why.clear();
    if (found.value > 0) {
      question_.spec = sized(question_.spec, size_, found.value);
      found.plan = plan_in(question_, space_at(space, found.value), Goal::fastest, engine_);
    }
    found.plan.simulated += simulated_;
    return found;
  }

 private:
  static constexpr std::size_t kWave = 16;

  /// Context parallelism cuts a sample into equal pieces (CpSpec::load_balance).
  std::int64_t grain(const Spec& spec) const {
    return size_ == Size::seq && spec.cp ? spec.cp->degree * (spec.cp->load_balance ? 2 : 1) : 1;
  }
  std::int64_t above(const Spec& way, std::int64_t value) const { return (value / grain(way) + 1) * grain(way); }

  Seen seen(const Spec& way, std::int64_t value) const {
    const Spec spec = sized(way, size_, value);
    try {
      check_spec(spec);
    } catch (const Error& error) {
      Seen refused;
      refused.refusal = error.message();
      return refused;
    }
    const Seen first = oracle_.simulate(spec);
    return first.fits ? oracle_.confirm(spec) : first;
  }

  /// Those that take least where the question begins come first, as they come farthest.
  std::vector<Spec> by_memory(const Space& space) {
    std::vector<std::pair<std::int64_t, Spec>> ways;
    for (const auto& family : space.families) ways.emplace_back(0, space.candidates[family.front()].spec);
    in_parallel(ways.size(), [&](std::size_t i) {
      const Seen first = oracle_.simulate(sized(ways[i].second, size_, start_));
      ways[i].first = first.fits ? first.peak.device_bytes : std::numeric_limits<std::int64_t>::max();
    });
    simulated_ += static_cast<std::int64_t>(ways.size());
    std::stable_sort(ways.begin(), ways.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Spec> ordered;
    for (auto& [bytes, spec] : ways) ordered.push_back(std::move(spec));
    return ordered;
  }

  /// `next` is what was seen of the first value above found.value then; another way may have raised it since.
  void raise(const Spec& way, const Seen& next, LargestPlan& found) {
    if (next.refusal.empty())
      is_full_ |= !next.fits;
    else if (found.why.empty())
      found.why = next.refusal;
    if (!next.fits && (found.value > 0 || next.refusal.empty())) return;
    std::int64_t low = found.value, high = 0;
    for (std::int64_t value = std::max(above(way, low), start_ / grain(way) * grain(way)); value <= kMost; value *= 2) {
      if (!fits(way, value)) {
        high = value;
        break;
      }
      low = value;
    }
    while (high - low > grain(way)) {
      const std::int64_t middle = (low + high) / 2 / grain(way) * grain(way);
      (fits(way, middle) ? low : high) = middle;
    }
    found.value = std::max(found.value, low);
  }

  bool fits(const Spec& way, std::int64_t value) {
    ++simulated_;
    return seen(way, value).fits;
  }

  /// Every way, with that size.
  Space space_at(Space space, std::int64_t value) const {
    for (Candidate& candidate : space.candidates) candidate.spec = sized(std::move(candidate.spec), size_, value);
    return space;
  }

  Question question_;
  const Size size_;
  const Engine& engine_;
  const Oracle oracle_;
  std::int64_t start_ = 1, simulated_ = 0;
  bool is_full_ = false;  // some way did not fit for want of memory
};

}  // namespace

LargestPlan largest(const Question& question, Size size, const Engine& engine) {
  return Largest(question, size, engine).find();
}

}  // namespace tidemark::plan
