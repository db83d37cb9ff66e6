// The exact engine as a search asks it.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "base/value.h"
#include "estimate/report.h"
#include "memory/card.h"
#include "plan/search.h"
#include "program/program.h"

namespace tidemark::plan {

struct Engine {
  Value model_config;
  Card card;
  /// The captured programs of a spec's model; none: the family that the configuration names.  Called by several
  /// threads at once.
  std::function<std::shared_ptr<const std::vector<Program>>(const Spec&)> programs;
  /// Keeps a margin free, and judges again; may be empty.
  std::function<void(Report&)> keep_margin;
  Efficiency efficiency = {};         // that the card reaches; by default a plain roofline
  double network_bytes_per_s = 0;     // of one GPU's port to other nodes; 0: as is usual
  bool parts_between_stages = false;  // plan/step_time.h
  AskCudnn ask_cudnn = {};            // of convolutions that no table has; empty: they are refused
};

/// Simulates rank 0 and one rank of each stage, and takes an answer when every kind of rank fits in every order of
/// addresses.  Not owned: `engine` must live as long.
Oracle make_oracle(const Engine& engine);

/// Of a spec that cannot be simulated the Error that says why; does nothing of another.
void throw_refusal(const Engine& engine, const Spec& spec);

/// The engine on a card that no training fills.
Engine without_end(const Engine& engine);

/// What one pass of the model alone computes, on one GPU.
PassWork work_of_pass(const Engine& engine, const Spec& spec);

/// All ranks, or beyond kMostRanks of them the first and last of each coordinate, in ascending order.
inline constexpr std::int64_t kMostRanks = 16;
std::vector<std::int64_t> kinds_of_ranks(const Spec& spec);

}  // namespace tidemark::plan
