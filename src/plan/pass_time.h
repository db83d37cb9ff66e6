// How long the kernels of one pass take.
#pragma once
#include "plan/step_time.h"

namespace tidemark::plan {

struct PassTime {
  double layers = 0;        // seconds of what all layers do alike
  double outside = 0;       // of products that are there once, such as the head's, which the last stage has
  double forward_part = 0;  // of both, what forward passes take, the second ones of checkpoints too
  double forward_host = 0, backward_host = 0;  // what Python and the dispatcher need
};

/// On one of `tp` GPUs that share matrices, of `cp` that share tokens.
PassTime pass_time(const Spec& spec, const PassWork& pass, const Machine& machine);

/// Bytes that kernels read and write for each that they write: about as much as they write in the forward pass; in the
/// backward pass also what was kept for them.
inline constexpr double kForwardTraffic = 2, kBackwardTraffic = 3;

/// Operations per second, for numbers of two bytes or four.
double peak_flops(const Spec& spec, const Card& card, bool half);
/// Bytes per second that kernels reach.
double memory_rate(const Machine& machine);

}  // namespace tidemark::plan
