#include "plan/layer_choice.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "base/in_parallel.h"

namespace tidemark::plan {
namespace {

using Order = std::vector<std::size_t>;

constexpr std::size_t kMostPermuted = 2;  // kinds of layers
constexpr std::size_t kMostSpread = 16;   // layers
constexpr std::size_t kMostMixed = 16;    // layers; of more, one that runs again too often is little of all
constexpr std::size_t kMostOperators = 7, kMostSubsets = 8;
constexpr std::size_t kBisections = 4;  // bisections that go on together, whatever the number of cores

/// Layers of one kind, in order.
std::vector<Order> kinds_of(const std::vector<LayerCost>& costs) {
  std::vector<Order> kinds;
  for (std::size_t layer = 0; layer < costs.size(); ++layer) {
    const auto found =
        std::ranges::find_if(kinds, [&](const Order& kind) { return costs[kind.front()] == costs[layer]; });
    if (found == kinds.end())
      kinds.push_back({layer});
    else
      found->push_back(layer);
  }
  return kinds;
}

Order joined(const std::vector<Order>& kinds, const Order& of) {
  Order order;
  for (const std::size_t kind : of) order.insert(order.end(), kinds[kind].begin(), kinds[kind].end());
  return order;
}

/// Each second one, then each second one of the rest.
Order spread(const Order& all) {
  if (all.size() < 3) return all;
  Order first, rest;
  for (std::size_t i = 0; i < all.size(); ++i) (i % 2 == 0 ? first : rest).push_back(all[i]);
  rest = spread(rest);
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

/// In which order layers come to be checkpointed.  Of one kind the last ones come last: what they hold is gone when the
/// others run again (arXiv 1911.13214 has that of chains).
std::vector<Order> chains_of(const std::vector<LayerCost>& costs) {
  const std::vector<Order> kinds = kinds_of(costs);
  std::vector<Order> chains;
  Order of(kinds.size());
  std::iota(of.begin(), of.end(), std::size_t{0});
  if (kinds.size() <= kMostPermuted) {
    do chains.push_back(joined(kinds, of));
    while (std::next_permutation(of.begin(), of.end()));
  } else {
    chains.push_back(joined(kinds, of));
    std::ranges::reverse(of);
    chains.push_back(joined(kinds, of));
    std::ranges::sort(of, {}, [&](std::size_t kind) { return costs[kinds[kind].front()].seconds; });
    chains.push_back(joined(kinds, of));
  }
  Order all(costs.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  chains.push_back(all);
  if (all.size() <= kMostSpread) chains.push_back(spread(all));
  std::ranges::reverse(all);
  chains.push_back(all);
  std::vector<Order> different;
  for (Order& chain : chains)
    if (std::ranges::find(different, chain) == different.end()) different.push_back(std::move(chain));
  return different;
}

struct Subset {
  std::vector<bool> kept;
  double seconds = 0, bytes = 0;  // that it spares, and holds
};

std::vector<Subset> all_subsets(const std::vector<LayerCost>& costs) {
  const std::size_t operators = costs.front().operator_seconds.size();
  std::vector<Subset> singles(operators);
  std::vector<std::size_t> worth;  // that spare anything
  for (std::size_t one = 0; one < operators; ++one) {
    for (const LayerCost& cost : costs) {
      singles[one].seconds += cost.operator_seconds[one];
      singles[one].bytes += cost.operator_bytes[one];
    }
    if (singles[one].seconds > 0) worth.push_back(one);
  }
  std::ranges::stable_sort(worth, {},
                           [&](std::size_t one) { return -singles[one].seconds / std::max(singles[one].bytes, 1.0); });
  if (worth.size() > kMostOperators) worth.resize(kMostOperators);
  std::vector<Subset> subsets;
  for (std::size_t bits = 0; bits < std::size_t{1} << worth.size(); ++bits) {
    Subset& subset = subsets.emplace_back();
    subset.kept.resize(operators);
    for (std::size_t i = 0; i < worth.size(); ++i) {
      if ((bits >> i & 1) == 0) continue;
      subset.kept[worth[i]] = true;
      subset.seconds += singles[worth[i]].seconds;
      subset.bytes += singles[worth[i]].bytes;
    }
  }
  return subsets;
}

/// Those that no other beats in both; where they are many, those that spare most for what they hold.
std::vector<Subset> subsets_of(const std::vector<LayerCost>& costs) {
  std::vector<Subset> all = all_subsets(costs), front;
  std::vector<Subset> densest;  // the first operators, the first two, …
  for (std::size_t count = 1; count <= all.size(); count *= 2) densest.push_back(all[count - 1]);
  std::ranges::stable_sort(all, {}, [](const Subset& subset) { return std::pair(subset.bytes, -subset.seconds); });
  for (Subset& subset : all)
    if (front.empty() || subset.seconds > front.back().seconds) front.push_back(std::move(subset));
  if (front.size() <= kMostSubsets) return front;
  return densest;
}

class ChoiceSearch {
 public:
  ChoiceSearch(const std::vector<LayerCost>& costs, const std::function<bool(const LayerChoice&)>& fits)
      : costs_(costs), fits_(fits) {}

  std::optional<FoundChoice> run() {
    const std::size_t operators = costs_.front().operator_seconds.size();
    const std::vector<bool> no_layers(costs_.size());
    LayerChoice none{no_layers, no_layers, std::vector<bool>(operators)};
    ask({none});
    if (known_[none]) return FoundChoice{std::move(none), 0};
    const std::vector<Order> chains = chains_of(costs_);
    const std::vector<Subset> subsets = subsets_of(costs_);
    std::vector<Bisection> wave;
    const auto look = [&](const Order& chain, const Subset& subset, std::size_t layers, std::size_t fewest) {
      const std::size_t end = (subset.seconds > 0 ? 2 : 1) * layers + 1;
      candidates += static_cast<std::int64_t>(end - fewest);
      wave.push_back({&chain, &subset.kept, layers, fewest, end, {}});
      if (wave.size() == kBisections) finish(wave);
    };
    for (const Order& chain : chains)
      for (const Subset& subset : subsets) look(chain, subset, chain.size(), 1);
    const std::size_t most_whole = costs_.size() <= kMostMixed ? costs_.size() : 2;
    for (const Order& chain : chains)
      for (const Subset& subset : subsets)
        for (std::size_t whole = 1; whole < most_whole && subset.seconds > 0; ++whole)
          look(chain, subset, chain.size() - whole, chain.size() - whole + 1);
    finish(wave);
    return std::move(best_);
  }

  std::int64_t asked = 0, candidates = 1;

 private:
  struct Bisection {
    const Order* chain;
    const std::vector<bool>* kept;
    std::size_t layers;     // the first of the chain, which may run again
    std::size_t low, high;  // the fewest that fit, these and then again without keeping any, the last excluded
    LayerChoice asked;
  };

  /// One choice of each at a time, all together.
  void finish(std::vector<Bisection>& wave) {
    while (true) {
      std::erase_if(wave, [&](const Bisection& one) { return one.low >= one.high || !is_better(first(one, one.low)); });
      if (wave.empty()) return;
      std::vector<LayerChoice> unknown;
      for (Bisection& one : wave) {
        one.asked = first(one, (one.low + one.high) / 2);
        if (!known_.contains(one.asked) && std::ranges::find(unknown, one.asked) == unknown.end())
          unknown.push_back(one.asked);
      }
      ask(unknown);
      for (Bisection& one : wave) narrow(one);
    }
  }

  void ask(const std::vector<LayerChoice>& unknown) {
    std::vector<char> fitting(unknown.size());
    in_parallel(unknown.size(), [&](std::size_t i) { fitting[i] = fits_(unknown[i]) ? 1 : 0; });
    for (std::size_t i = 0; i < unknown.size(); ++i) known_[unknown[i]] = fitting[i] != 0;
    asked += static_cast<std::int64_t>(unknown.size());
  }

  void narrow(Bisection& one) {
    const std::size_t middle = (one.low + one.high) / 2;
    if (!known_[one.asked]) {
      one.low = middle + 1;
      return;
    }
    one.high = middle;
    if (is_better(one.asked)) best_ = FoundChoice{one.asked, seconds_again(costs_, one.asked)};
  }

  static LayerChoice first(const Bisection& one, std::size_t count) {
    const std::size_t layers = one.chain->size();
    const std::size_t again = std::min(count, one.layers);
    LayerChoice choice{std::vector<bool>(layers), std::vector<bool>(layers), *one.kept};
    const bool keeps_any = std::ranges::find(*one.kept, true) != one.kept->end();
    for (std::size_t i = 0; i < again; ++i) {
      choice.layers[(*one.chain)[i]] = true;
      choice.keeping[(*one.chain)[i]] = keeps_any && i + again >= count;
    }
    if (std::ranges::find(choice.keeping, true) == choice.keeping.end()) choice.kept.assign(choice.kept.size(), false);
    return choice;
  }

  bool is_better(const LayerChoice& choice) const { return !best_ || seconds_again(costs_, choice) < best_->seconds; }

  const std::vector<LayerCost>& costs_;
  const std::function<bool(const LayerChoice&)>& fits_;
  std::map<LayerChoice, bool> known_;
  std::optional<FoundChoice> best_;
};

}  // namespace

bool LayerChoice::is_empty() const { return std::ranges::find(layers, true) == layers.end(); }

double seconds_again(const std::vector<LayerCost>& costs, const LayerChoice& choice) {
  double seconds = 0;
  for (std::size_t layer = 0; layer < costs.size(); ++layer) {
    if (!choice.layers[layer]) continue;
    double again = costs[layer].seconds;
    for (std::size_t one = 0; one < choice.kept.size(); ++one)
      if (choice.keeping[layer] && choice.kept[one]) again -= costs[layer].operator_seconds[one];
    seconds += std::max(again, 0.0);
  }
  return seconds;
}

std::optional<FoundChoice> least_recomputation(const std::vector<LayerCost>& costs,
                                               const std::function<bool(const LayerChoice&)>& fits,
                                               ChoiceCounts* counts) {
  if (costs.empty()) return std::nullopt;
  ChoiceSearch search(costs, fits);
  std::optional<FoundChoice> found = search.run();
  if (counts) *counts = {search.asked, search.candidates};
  return found;
}

}  // namespace tidemark::plan
