// How a model is run, apart from its shape: what transformers takes from the config and the trainer, not from the
// weights.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tidemark {

enum class AttentionKind { sdpa, eager };
enum class CheckpointKind { none, non_reentrant, reentrant };
enum class ExpertsKind { grouped_mm, batched_mm, eager };

/// Layers by their number over the whole model: first and last of each range.
using LayerRanges = std::vector<std::pair<std::int64_t, std::int64_t>>;

struct Context {
  AttentionKind attention = AttentionKind::sdpa;
  CheckpointKind checkpointing = CheckpointKind::none;
  std::int64_t checkpoint_every = 1;                                     // layers whose index is a multiple of it
  std::shared_ptr<const LayerRanges> checkpoint_layers = {};             // in the place of each n-th one
  std::shared_ptr<const std::vector<std::string>> checkpoint_save = {};  // operators whose results are kept
  std::shared_ptr<const LayerRanges> checkpoint_save_layers = {};        // by which layers; none: by all
  std::int64_t layers_before = 0;  // of parts that are registered in front: their layers count too
  bool use_cache = true;
  bool padding = false;  // whether batches hold padding, so that masks are built
  ExpertsKind experts = ExpertsKind::grouped_mm;
  double routing_skew = 0;  // of the tokens, those that choose the first experts; the rest go round in turn
};

}  // namespace tidemark
