// Non-reentrant activation checkpointing: what a block would save is left out, and made again when backward first asks
// for any of it.  torch: torch/utils/checkpoint.py, _checkpoint_without_reentrant_generator
#pragma once
#include <functional>
#include <vector>

#include "tensor/tensor.h"

namespace tidemark {

/// torch: _CheckpointFrame
struct CheckpointFrame {
  std::int32_t references = 0;
  std::function<Tensor()> block;  // the forward again; holds its arguments, and they stay alive with it
  std::vector<bool> wanted;     // by place: whether the node that saved it is still there (torch: weak_holders)
  std::vector<Tensor> values;   // by place, from the second forward until used
  std::int32_t made_again = 0;
  bool recomputing = false, recomputed = false;
  static void destroy(CheckpointFrame* frame) { delete frame; }
};

/// Every tensor has been made again: the rest of the second forward is not run.  torch: _StopRecomputationError
struct StopRecomputation {};

/// Runs `block` with its saved tensors left out, and again in backward: it must hold all that it needs.
Tensor checkpoint(Run& run, std::function<Tensor()> block);

/// In place of Saved(tensor), while `frame` is the run's.  Throws StopRecomputation.
struct Saved save_in(CheckpointFrame& frame, Tensor tensor);

/// The saved tensor; runs the block again if it is the first that is asked for.
Tensor unpack(Run& run, struct Saved& saved);

}  // namespace tidemark
