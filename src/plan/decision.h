// What a plan may decide: one block per decision, which says its values and what each does to the spec.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/spec.h"
#include "plan/trainer_way.h"

namespace tidemark::plan {

/// What holds for every candidate, and what values were asked for by name.
struct Bounds {
  std::int64_t gpus = 1, gpus_per_node = 0;  // gpus_per_node 0: all on one node
  std::int64_t samples_per_step = 1;         // over all GPUs: micro-batch x accumulation x copies of the model; 0: any
  std::map<std::string, std::vector<std::string>, std::less<>> values;  // of a decision that takes them
  std::vector<TrainedAs> trainers = {};               // of each trainer that a plan is for, beside transformers' own
  std::function<bool(const Spec&)> can_be_said = {};  // in their files; none: any can
};

/// The first of what a program asks memory for that a decision can change: loading its weights; its passes; the first
/// step of its optimizer; nothing, only where the allocator finds what it is asked for.
enum class Moment { loading, passes, optimizer, answers };

struct Decision {
  std::string_view name;
  std::string_view help;
  /// Whether what is learned is the same (up to rounding), so that it is free to use; else it must be allowed by name.
  bool same_training = true;
  /// What others() says after a decision of an earlier moment is decided by such decisions alone.
  Moment changes_from = Moment::loading;
  /// The other ways, without the one that the spec has already.
  std::vector<Spec> (*others)(const Spec& spec, const Bounds& bounds) = nullptr;
  /// Whether the spec's own way is left out: it cannot stand as it is.
  bool (*must_change)(const Spec& spec, const Bounds& bounds) = nullptr;
};

/// In the order in which they are taken: a later one sees what the earlier ones have chosen.
std::span<const Decision> decisions();

/// Throws Error{unknown_name} with the nearest name.  `where` is the option.
const Decision& decision(std::string_view name, const std::string& where);

/// Shared out in that way, without the options of others, which would be refused.
Spec with_parallel(Spec spec, Parallel parallel);

/// Ranks that have different samples: all of them, but for those that share matrices, layers or tokens.
std::int64_t data_parallel_ranks(const Spec& spec);

}  // namespace tidemark::plan
