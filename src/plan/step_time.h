// How long a step takes: an estimate, from what it computes, moves and sends.  It ranks configurations; it never
// decides a number of bytes.
#pragma once
#include "estimate/spec.h"
#include "memory/card.h"
#include "tensor/work.h"

namespace tidemark::plan {

/// Of the model alone on one GPU, for one pass of a candidate's size: its work, and what strategies send of it.
struct PassWork {
  Work work;
  std::int64_t layers = 0, hidden_size = 0;  // 0: not known
};

struct StepTime {
  double seconds = 0, low_seconds = 0, high_seconds = 0;
};

StepTime step_time(const Spec& spec, const PassWork& pass, const Card& card);

}  // namespace tidemark::plan
