#include "plan/largest.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/in_parallel.h"
#include "program/model.h"

namespace tidemark::plan {
namespace {

constexpr std::int64_t kMost = 1 << 20;
/// Where the search begins that nobody says a length for.
constexpr std::int64_t kFirstTokens = 1024;

std::int64_t size_of(const Spec& spec, Size size) {
  switch (size) {
    case Size::batch: return samples_per_pass(spec);
    case Size::seq: return spec.seq;
    case Size::images: return spec.images;
    case Size::image_size: return parse_image_size(spec.image_size).height;
  }
  return 0;
}

Spec sized(Spec spec, Size size, std::int64_t value) {
  switch (size) {
    case Size::batch: spec.batch = spec.pp ? value * spec.pp->microbatches : value; break;
    case Size::seq: spec.seq = value; break;
    case Size::images: spec.images = value; break;
    case Size::image_size: spec.image_size = std::to_string(value); break;
  }
  return spec;
}

/// Pixels of a side that become one token; of a model that does not say, as of Qwen2-VL.
std::int64_t side_of_token(const Value& config) {
  constexpr std::int64_t kSide = 14, kMerged = 2;
  const ImagePatches patches = image_patches_of(config);
  return (patches.side > 0 ? patches.side : kSide) * (patches.merged > 0 ? patches.merged : kMerged);
}

/// Of each family its smallest pass, which comes farthest.
class Largest {
 public:
  Largest(Question question, Size size, const Engine& engine)
      : question_(std::move(question)), size_(size), engine_(engine), oracle_(make_oracle(engine)) {
    if (size == Size::batch) question_.bounds.samples_per_step = 0;
    if (size == Size::image_size && question_.spec.images == 0)
      throw Error(Errc::usage, "there are no images to have a size", "images", "set images to 1 or more");
    start_ = std::max<std::int64_t>(size_of(question_.spec, size), size == Size::seq ? kFirstTokens : 1);
    if (size == Size::image_size) side_of_token_ = side_of_token(engine.model_config);
    // As many pieces of tokens as any context parallelism makes, so that each is in the space.
    const std::int64_t pieces = size == Size::seq ? 2 * question_.bounds.gpus : side_of_token_;
    start_ = (start_ + pieces - 1) / pieces * pieces;
  }

  LargestPlan find() {
    const Space space = make_space(sized(question_.spec, size_, start_), question_.bounds, question_.freedom);
    LargestPlan found;
    const std::vector<Spec> ways = by_memory(space);
    Teller teller(question_.told, Stage::largest, ways.size());
    for (std::size_t at = 0; at < ways.size(); at += kWave) {
      const std::size_t count = std::min(kWave, ways.size() - at);
      const std::int64_t value = found.value;
      std::vector<Seen> next(count);
      in_parallel(count, [&](std::size_t i) { next[i] = seen(ways[at + i], above(ways[at + i], value)); });
      simulated_ += static_cast<std::int64_t>(count);
      for (std::size_t i = 0; i < count; ++i) raise(ways[at + i], value, std::move(next[i]), found);
      teller.has_largest(found.value, simulated_);
      teller.has_decided(at + count);
    }
    found.refused = std::numeric_limits<std::int64_t>::max();
    for (const Spec& way : ways) found.refused = std::min(found.refused, above(way, found.value));
    // Where nothing fits: what the smallest would need.
    const std::int64_t told = found.value > 0 ? found.value : size_ == Size::seq ? start_ : side_of_token_;
    found.plan = plan_in(question_, space_at(space, told), Goal::fastest, engine_);
    found.plan.simulated += simulated_;
    return found;
  }

 private:
  static constexpr std::size_t kWave = 16;

  /// Context parallelism cuts a sample into equal pieces (CpSpec::load_balance), and sequence parallelism shares it
  /// evenly.
  std::int64_t grain(const Spec& spec) const {
    if (size_ == Size::image_size) return side_of_token_;
    if (size_ == Size::seq && spec.tp && spec.tp->sequence_parallel) return spec.tp->degree;
    return size_ == Size::seq && spec.cp ? spec.cp->degree * (spec.cp->load_balance ? 2 : 1) : 1;
  }
  std::int64_t above(const Spec& way, std::int64_t value) const { return (value / grain(way) + 1) * grain(way); }

  Seen seen(const Spec& way, std::int64_t value) const {
    Seen refused;
    if (value > kMost) {
      refused.refusal = fmt::format("more than {} are not tried", kMost);
      return refused;
    }
    const Spec spec = sized(way, size_, value);
    try {
      check_spec(spec);
    } catch (const Error& error) {
      refused.refusal = error.message();
      return refused;
    }
    const Seen first = oracle_.simulate(spec);
    return first.fits ? oracle_.confirm(spec) : first;
  }

  /// Those that take least where the question begins come first, as they come farthest.
  std::vector<Spec> by_memory(const Space& space) {
    std::vector<std::pair<std::int64_t, Spec>> ways;
    for (const auto& family : space.families) ways.emplace_back(0, space.spec(family.front()));
    Teller teller(question_.told, Stage::order, ways.size());
    in_parallel(ways.size(), [&](std::size_t i) {
      const Seen first = oracle_.simulate(sized(ways[i].second, size_, start_));
      teller.simulated_and_decided();
      ways[i].first = first.fits ? first.peak.device_bytes : std::numeric_limits<std::int64_t>::max();
    });
    simulated_ += static_cast<std::int64_t>(ways.size());
    std::stable_sort(ways.begin(), ways.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Spec> ordered;
    for (auto& [bytes, spec] : ways) ordered.push_back(std::move(spec));
    return ordered;
  }

  /// `next` is what was seen of the first above `value`; another way may have raised found.value since.
  void raise(const Spec& way, std::int64_t value, Seen next, LargestPlan& found) {
    if (!next.refusal.empty() && found.value > value) {
      value = found.value;
      next = asked(way, above(way, value));
    }
    if (!next.fits && (found.value > 0 || next.refusal.empty())) return;
    const std::int64_t first = above(way, found.value);
    Range range = doubled(way, std::max(first, start_ / grain(way) * grain(way)), next.fits ? above(way, value) : 0);
    while (range.high - range.low > grain(way) && range.high > first) {
      const std::int64_t middle = (range.low + range.high) / 2 / grain(way) * grain(way);
      narrow(range, middle, asked(way, middle));
    }
    if (!range.low_fits || range.low <= found.value) return;
    found.value = range.low;
    found.why = std::move(range.why);
  }

  /// What is refused below all that fits is too small, such as fewer tokens than the images are; above it, too large.
  struct Range {
    std::int64_t low = 0, high = 0;  // high: 0, nothing is known yet
    bool low_fits = false;
    std::string why;  // high was refused
  };

  static void narrow(Range& range, std::int64_t value, const Seen& seen) {
    if (seen.fits || (!seen.refusal.empty() && !range.low_fits)) {
      range.low = value;
      range.low_fits |= seen.fits;
    } else {
      range.high = value;
      range.why = seen.refusal;
    }
  }

  /// From `fitting`, which does (0: nothing is known to), to the first that does not.
  Range doubled(const Spec& way, std::int64_t from, std::int64_t fitting) {
    Range range{.low = fitting, .high = 0, .low_fits = fitting > 0, .why = {}};
    for (std::int64_t value = from == fitting ? 2 * from : from; range.high == 0 && (range.low_fits || value <= kMost);
         value *= 2)
      narrow(range, value, asked(way, value));
    return range;
  }

  Seen asked(const Spec& way, std::int64_t value) {
    ++simulated_;
    return seen(way, value);
  }

  /// Every way, with that size.
  Space space_at(Space space, std::int64_t value) const {
    if (size_ == Size::batch)
      for (Candidate& candidate : space.candidates) candidate.batch = value * candidate.microbatches;
    else
      for (Spec& base : space.bases) base = sized(std::move(base), size_, value);
    return space;
  }

  Question question_;
  const Size size_;
  const Engine& engine_;
  const Oracle oracle_;
  std::int64_t start_ = 1, side_of_token_ = 1, simulated_ = 0;
};

}  // namespace

LargestPlan largest(const Question& question, Size size, const Engine& engine) {
  return Largest(question, size, engine).find();
}

}  // namespace tidemark::plan
