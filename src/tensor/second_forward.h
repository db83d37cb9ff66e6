// Second forwards of checkpointed blocks that are repeated as requests, without making tensors and nodes.
//
// Note [Second forwards that repeat]
// Layers repeat: all blocks of a model are often one function of equal inputs.  What a block's first forward does is
// written down: every request and free in order, every node with its edges, and of every tensor that would be saved
// where it lies and how.  A block runs the same operations when it runs again, so when two blocks have equal first
// forwards, and of both the same saved tensors are still wanted when the second forward begins, under the same
// operation, then the second forward of the one makes the requests of the other's.  These are repeated, and tensors are
// made of the memory that is left: those that were to be made again.
//
// That holds where requests, nodes and saved tensors are all that a forward does.  A block that calls hooks, starts
// collectives, casts for autocast, frees what is older than it, or leaves anything else behind, runs again itself.
#pragma once
#include "tensor/checkpoint.h"
#include "tensor/node.h"

namespace tidemark {

/// From now on.
void repeat_second_forwards(Run& run);

/// A block's first forward begins and ends.
void begin_first_forward(Run& run, CheckpointFrame& frame);
void end_first_forward(Run& run, CheckpointFrame& frame);
/// A node of it, and what it is about to save.
void write_down(const Node& node, const CheckpointFrame& frame, const Tensors& saved);

/// Makes the values of `frame` as an equal block's were made, if that is known: false.  Throws DeviceOutOfMemory.
bool repeat_second_forward(Run& run, CheckpointFrame& frame);

/// A second forward that runs, for others to repeat it.
class WatchedForward {
 public:
  explicit WatchedForward(Run& run);
  /// It is over, and the values are made.
  void keep(const CheckpointFrame& frame);

 private:
  Run& run_;
  std::uint32_t side_effects_;
  std::size_t event_, entry_;
};

}  // namespace tidemark
