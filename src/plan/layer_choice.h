// Which layers to checkpoint, and which operators' results to keep in them, for the least recomputation that fits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

namespace tidemark::plan {

/// What a layer costs to run again, and what of that each operator does.
struct LayerCost {
  double seconds = 0;
  std::vector<double> operator_seconds = {}, operator_bytes = {};  // bytes: to keep, in its place

  bool operator==(const LayerCost&) const = default;
};

struct LayerChoice {
  std::vector<bool> layers;   // that are checkpointed
  std::vector<bool> keeping;  // of these, which keep results
  std::vector<bool> kept;     // by operator

  bool operator==(const LayerChoice&) const = default;
  bool operator<(const LayerChoice& other) const {
    return std::tie(layers, keeping, kept) < std::tie(other.layers, other.keeping, other.kept);
  }
  /// Nothing runs again.
  bool is_empty() const;
};

double seconds_again(const std::vector<LayerCost>& costs, const LayerChoice& choice);

struct FoundChoice {
  LayerChoice choice;
  double seconds = 0;
};

/// What was looked at, of how many.
struct ChoiceCounts {
  std::int64_t asked = 0, candidates = 0;
};

/// The least recomputation of the choices that are looked at and fit; none where none does.
///
/// Note [More budget, less time]
/// Layers of equal cost change places without changing the time.  Chains order all layers, and a chain of n layers has
/// 2 n choices, each of which runs more again than the one before: its first layers checkpointed, and keeping results,
/// then all of them so and the first ones without keeping any.  The last of a chain may be left whole (what it holds is
/// there while it runs again in any case), of few layers any number of the last: n - w choices more.  Which chains
/// there are, and which operators are kept, does not depend on the budget; in each the fewest layers are found by
/// bisection.  Where two budgets part in a bisection, one choice fits the larger alone, and the larger goes on below
/// it, the smaller above: so it never ends with more time, whatever the peaks are.  What is left out is what cannot be
/// better than what was found.  `fits` is called by several threads at once.
std::optional<FoundChoice> least_recomputation(const std::vector<LayerCost>& costs,
                                               const std::function<bool(const LayerChoice&)>& fits,
                                               ChoiceCounts* counts = nullptr);

}  // namespace tidemark::plan
