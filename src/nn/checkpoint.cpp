#include "nn/checkpoint.h"

#include <algorithm>

#include "tensor/checkpoint.h"

namespace tidemark {

bool is_checkpointed(Run& run, const Context& context, std::int64_t index) {
  const std::int64_t layer = context.layers_before + index;
  run.layers = std::max(run.layers, layer + 1);
  if (context.checkpointing == CheckpointKind::none) return false;
  if (!context.checkpoint_layers) return layer % context.checkpoint_every == 0;
  return std::ranges::any_of(*context.checkpoint_layers,
                             [&](const auto& range) { return range.first <= layer && layer <= range.second; });
}

/// Layers are what stands in an nn.ModuleList, under a number.
Context behind(Context context, Module& part) {
  for (const std::unique_ptr<Module>& child : part.children()) {
    if (child->has_place())
      ++context.layers_before;
    else
      context = behind(context, *child);
  }
  return context;
}

Tensors checkpoint_layer(const Context& context, std::int64_t index, Tensor hidden_states,
                         std::function<Tensors(Tensor)> layer) {
  Run& run = hidden_states.run();
  if (!is_checkpointed(run, context, index)) return layer(std::move(hidden_states));
  const std::int64_t number = context.layers_before + index;
  if (context.checkpointing == CheckpointKind::reentrant)
    return checkpoint_reentrant(run, std::move(layer), std::move(hidden_states), number);
  return checkpoint(
      run, [layer = std::move(layer), hidden_states = std::move(hidden_states)] { return layer(hidden_states); },
      {.layer = number, .save = context.checkpoint_save});
}

}  // namespace tidemark
