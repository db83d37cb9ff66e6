// How long a step takes: an estimate, from what it computes, moves and sends.  It ranks configurations; it never
// decides a number of bytes.
#pragma once
#include "estimate/spec.h"
#include "memory/card.h"
#include "plan/efficiency.h"
#include "tensor/work.h"

namespace tidemark::plan {

/// Of the model alone on one GPU, for one pass of a candidate's size: its work, and what strategies send of it.
struct PassWork {
  Work work;
  std::int64_t layers = 0, hidden_size = 0;  // 0: not known
};

struct StepTime {
  double seconds = 0, low_seconds = 0, high_seconds = 0;
  bool of_cards_in_general = false;  // no kernel of this card was measured
};

/// What weights are in while they compute: FSDP may gather them in another type than it keeps.
WeightDtype computed_dtype(const Spec& spec);

/// What it runs on, none of it owned.
struct Machine {
  const Card& card;
  const Efficiency& reached;
  double network_bytes_per_s = 0;  // one direction of one GPU's port to other nodes; 0: as is usual
  /// Ranks that share matrices each send a part of what goes between stages, and gather the rest (arXiv 2104.04473,
  /// 4.1).
  bool parts_between_stages = false;
};

StepTime step_time(const Spec& spec, const PassWork& pass, const Machine& machine);

}  // namespace tidemark::plan
