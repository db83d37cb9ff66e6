#include "nn/checkpoint.h"

#include <algorithm>

#include "tensor/checkpoint.h"

namespace tidemark {

namespace {

bool is_in(const LayerRanges& ranges, std::int64_t layer) {
  return std::ranges::any_of(ranges, [&](const auto& range) { return range.first <= layer && layer <= range.second; });
}

}  // namespace

bool is_checkpointed(Run& run, const Context& context, std::int64_t index) {
  const std::int64_t layer = context.layers_before + index;
  run.layers = std::max(run.layers, layer + 1);
  if (context.checkpointing == CheckpointKind::none || run.checkpoints_off) return false;
  if (!context.checkpoint_layers) return layer % context.checkpoint_every == 0;
  return is_in(*context.checkpoint_layers, layer);
}

Tensors checkpoint_layer(const Context& context, std::int64_t index, Tensor hidden_states,
                         std::function<Tensors(Tensor)> layer) {
  Run& run = hidden_states.run();
  if (!is_checkpointed(run, context, index)) return layer(std::move(hidden_states));
  const std::int64_t number = context.layers_before + index;
  if (context.checkpointing == CheckpointKind::reentrant)
    return checkpoint_reentrant(run, std::move(layer), std::move(hidden_states), number);
  const bool keeps = !context.checkpoint_save_layers || is_in(*context.checkpoint_save_layers, number);
  return checkpoint(
      run, [layer = std::move(layer), hidden_states = std::move(hidden_states)] { return layer(hidden_states); },
      {.layer = number, .save = keeps ? context.checkpoint_save : nullptr});
}

}  // namespace tidemark
