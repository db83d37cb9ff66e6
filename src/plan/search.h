// Which candidate to run, by as few simulations as answer that for certain.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/report.h"
#include "plan/progress.h"
#include "plan/space.h"
#include "plan/step_time.h"

namespace tidemark::plan {

/// What one simulation told.
struct Seen {
  bool fits = false;
  std::string refusal = {};                   // why it could not be simulated; empty: it was
  std::int64_t margin_bytes = 0;              // to keep free besides
  Peak peak = {};                             // of what fits; else as far as it came
  std::shared_ptr<const Report> report = {};  // of the rank that holds most; of what was confirmed
  // Of what does not fit: where memory ran out, if that tells of others (plan/kinship.h), and whether what was live and
  // what was asked for then are more than the card has, however the allocator is set.
  std::optional<Moment> ran_out_in = {};
  bool no_settings_help = false;
};

/// But for `confirm` they are called by several threads at once.
struct Oracle {
  std::function<Seen(const Spec&)> simulate;
  /// The same of what the program begins with: what does not fit there does not fit, and what fits may.  Empty:
  /// simulates.
  std::function<Seen(const Spec&)> begin;
  /// Looks more closely at what fits and may become an answer, such as at all ranks; empty: it stands.
  std::function<Seen(const Spec&)> confirm;
  /// The same, of all ranks even where some do not fit.
  std::function<Seen(const Spec&)> tell;
  std::function<StepTime(const Spec&)> time;
};

struct Found {
  std::size_t candidate = 0;
  Seen seen;
  StepTime time;
};

struct Outcome {
  std::vector<Found> answers;  // the best first; empty: nothing fits
  std::vector<Found> refused;  // that would be better and do not fit, the best first
  std::int64_t simulated = 0;
  std::map<std::string, std::int64_t> refusals;  // why some could not be simulated, and how many were
};

enum class Goal { fastest, least_memory, smallest_change, pareto };
inline constexpr std::array<std::string_view, 4> kGoalNames{"fastest", "least_memory", "smallest_change", "pareto"};

/// Relies on this alone: what does not fit does not fit with larger passes either.  The same answer on any number of
/// cores.  `answers` is how many are wanted (of pareto there are as many as there are).
Outcome search(const Space& space, Goal goal, const Oracle& oracle, std::size_t answers = 3, const Told& told = {},
               Stage stage = Stage::search);

}  // namespace tidemark::plan
