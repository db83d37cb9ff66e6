#include "estimate/compare_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/bytes.h"

namespace tidemark {
namespace {

using Events = std::span<const MemoryEvent>;

constexpr std::size_t kContext = 3;
// A block is a request rounded up to 512, and more where the rest was too small to split off: 1 MiB at most
// (CUDACachingAllocator.cpp: kMinBlockSize, kSmallSize, should_split).
constexpr std::int64_t kMinBlockBytes = 512, kLargestUnsplitBytes = 1 << 20;

std::size_t end_of_frees(Events events, std::size_t from) {
  while (from < events.size() && events[from].is_free) ++from;
  return from;
}

bool could_be_block_of(std::int64_t block_bytes, std::int64_t request_bytes) {
  const std::int64_t excess_bytes = block_bytes - request_bytes;
  return excess_bytes >= 0 && excess_bytes <= kLargestUnsplitBytes + kMinBlockBytes;
}

class Walk {
 public:
  Walk(Events a, Events b, const EventRules& rules) : a_(a), b_(b), rules_(rules) {}

  std::optional<Divergence> run() {
    while (true) {
      const std::size_t end_a = end_of_frees(a_, at_a_), end_b = end_of_frees(b_, at_b_);
      if (auto found = frees(end_a, end_b)) return found;
      at_a_ = end_a, at_b_ = end_b;
      const bool over_a = at_a_ == a_.size(), over_b = at_b_ == b_.size();
      if (over_a && over_b) return std::nullopt;
      if (over_a || over_b) return divergence("one has ended, the other goes on", !over_a, !over_b);
      if (!same_size(a_[at_a_].bytes, b_[at_b_].bytes)) {
        const std::int64_t bytes_a = a_[at_a_].bytes, bytes_b = b_[at_b_].bytes;
        return divergence(
            fmt::format("an allocation of {} against one of {}", group_digits(bytes_a), group_digits(bytes_b)), true,
            true);
      }
      if (rules_.names && !same_names(a_[at_a_], b_[at_b_]))
        return divergence("an allocation of another operation or module", true, true);
      ++at_a_, ++at_b_, ++allocations_;
    }
  }

 private:
  bool mixed() const { return rules_.requests_a != rules_.requests_b; }

  bool same_size(std::int64_t a, std::int64_t b) const {
    if (!mixed()) return a == b;
    return rules_.requests_a ? could_be_block_of(b, a) : could_be_block_of(a, b);
  }

  static bool same_names(const MemoryEvent& a, const MemoryEvent& b) {
    return a.operation == b.operation && a.module == b.module;
  }

  bool less(const MemoryEvent& x, const MemoryEvent& y) const {
    if (!rules_.names) return x.bytes < y.bytes;
    return std::tie(x.bytes, x.operation, x.module) < std::tie(y.bytes, y.operation, y.module);
  }

  // The indices of frees in [from, end), ordered so that equal sets become equal sequences; ties keep their order.
  std::vector<std::size_t> sorted(Events events, std::size_t from, std::size_t end) const {
    std::vector<std::size_t> order;
    for (std::size_t i = from; i < end; ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t x, std::size_t y) { return less(events[x], events[y]); });
    return order;
  }

  std::optional<Divergence> frees(std::size_t end_a, std::size_t end_b) {
    if (mixed()) {  // sizes that may differ make no sets; their number does
      if (end_a - at_a_ == end_b - at_b_) return std::nullopt;
      return divergence(fmt::format("{} frees against {}", end_a - at_a_, end_b - at_b_), at_a_ < a_.size(),
                        at_b_ < b_.size());
    }
    const auto order_a = sorted(a_, at_a_, end_a), order_b = sorted(b_, at_b_, end_b);
    std::optional<std::size_t> only_a, only_b;  // the earliest event without a partner, on each side
    std::size_t i = 0, j = 0;
    const auto keep_first = [](std::optional<std::size_t>& first, std::size_t index) {
      first = std::min(first.value_or(index), index);
    };
    while (i < order_a.size() || j < order_b.size()) {
      const bool take_a = j == order_b.size() || (i < order_a.size() && less(a_[order_a[i]], b_[order_b[j]]));
      const bool take_b = !take_a && (i == order_a.size() || less(b_[order_b[j]], a_[order_a[i]]));
      if (take_a) keep_first(only_a, order_a[i]);
      if (take_b) keep_first(only_b, order_b[j]);
      i += take_b ? 0 : 1;
      j += take_a ? 0 : 1;
    }
    if (!only_a && !only_b) return std::nullopt;
    at_a_ = only_a.value_or(end_a), at_b_ = only_b.value_or(end_b);
    const char* what = only_a && only_b ? "frees of other sizes" : "a free that only one of them has";
    return divergence(what, at_a_ < a_.size(), at_b_ < b_.size());
  }

  Divergence divergence(std::string what, bool has_a, bool has_b) const {
    Divergence result;
    result.what = std::move(what);
    result.equal_allocations = allocations_;
    if (has_a) result.a = at_a_;
    if (has_b) result.b = at_b_;
    const auto around = [](Events events, std::size_t at, std::size_t& first) {
      first = at > kContext ? at - kContext : 0;
      const std::size_t end = std::min(events.size(), at + kContext + 1);
      return std::vector<MemoryEvent>(events.begin() + static_cast<std::ptrdiff_t>(first),
                                      events.begin() + static_cast<std::ptrdiff_t>(end));
    };
    result.around_a = around(a_, at_a_, result.first_a);
    result.around_b = around(b_, at_b_, result.first_b);
    return result;
  }

  Events a_, b_;
  EventRules rules_;
  std::size_t at_a_ = 0, at_b_ = 0;
  std::int64_t allocations_ = 0;
};

}  // namespace

std::optional<Divergence> first_divergence(Events a, Events b, const EventRules& rules) {
  return Walk(a, b, rules).run();
}

}  // namespace tidemark
