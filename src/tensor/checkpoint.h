// Activation checkpointing: what a block would save is left out, and made again in backward, when it first asks for any
// of it.  torch: torch/utils/checkpoint.py, _checkpoint_without_reentrant_generator, and its older, reentrant form,
// CheckpointFunction (2.11.0)
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor.h"

namespace tidemark {

struct FirstForward;

/// What an operator gave in the first forward.  torch: the entries of _CachingTorchDispatchMode.storage
struct KeptResults {
  std::vector<Ref<Storage>> made;       // by its allocations; none of what it did not give
  std::vector<std::uint32_t> versions;  // of each, then
};

/// Operators whose results a block keeps, by name.
using KeptOperators = std::shared_ptr<const std::vector<std::string>>;

/// torch: _CheckpointFrame, and what CheckpointFunction keeps in its context
struct CheckpointFrame {
  std::int64_t layer = 0;  // by which its work is counted
  std::int32_t references = 0;
  std::function<Tensors()> block;           // the forward again; holds its arguments, and they stay alive with it
  std::function<Tensors(Tensor)> function;  // of a reentrant one, whose argument is among the saved tensors
  bool autocast = false;                    // what was on in the first forward
  Dtype autocast_dtype = Dtype::bf16;
  std::vector<bool> wanted;    // by place: whether the node that saved it is still there (torch: weak_holders)
  std::vector<Tensor> values;  // by place, from the second forward until used
  std::int32_t made_again = 0;
  bool recomputing = false, recomputed = false;

  struct Kept {
    std::vector<KeptResults> results;  // in the order in which it ran; until they are handed out
    std::size_t next = 0;
  };
  KeptOperators save;  // none: nothing is kept
  std::map<std::string_view, Kept> kept;

  /// Note [Where recomputation stops].  It ends by an exception when the last tensor has been saved.  An operation
  /// saves its inputs before it runs, so if those are the last, its result is never allocated: the operation where that
  /// happened in the first forward gets no memory in the second.  Operations are counted from the block's beginning.
  bool is_complete(std::uint32_t beginning) const {
    return recomputing && last_saves_inputs && beginning == first + last;
  }
  std::uint32_t first = 0, last = 0;
  bool last_saves_inputs = false;
  std::shared_ptr<FirstForward> first_forward;  // as far as it was written down: tensor/second_forward.h
  static void destroy(CheckpointFrame* frame) { delete frame; }
};

/// Every tensor has been made again: the rest of the second forward is not run.  torch: _StopRecomputationError
struct StopRecomputation {};

struct CheckpointOptions {
  std::int64_t layer = 0;
  KeptOperators save = {};  // of what operators give, all is kept; none: nothing
};

/// Runs `block` with its saved tensors left out, and again in backward: it must hold all that it needs.
Tensors checkpoint(Run& run, std::function<Tensors()> block, CheckpointOptions options = {});

/// CheckpointFunction.apply: runs `function` without gradients; backward runs it again and goes backward through it.
/// A result of an `input` that needs no gradient needs none; of several results, zeros are the gradient of one that has
/// none.
Tensors checkpoint_reentrant(Run& run, std::function<Tensors(Tensor)> function, Tensor input, std::int64_t layer = 0);

/// In place of Saved(tensor), while `frame` is the run's.  Throws StopRecomputation.
struct Saved save_in(CheckpointFrame& frame, Tensor tensor);

/// The saved tensor; runs the block again if it is the first that is asked for.
Tensor unpack(Run& run, struct Saved& saved);

}  // namespace tidemark
