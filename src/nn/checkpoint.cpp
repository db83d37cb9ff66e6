#include "nn/checkpoint.h"

#include "tensor/checkpoint.h"

namespace tidemark {

bool is_checkpointed(const Context& context, std::int64_t index) {
  return context.checkpointing != CheckpointKind::none &&
         (context.layers_before + index) % context.checkpoint_every == 0;
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
  if (!is_checkpointed(context, index)) return layer(std::move(hidden_states));
  Run& run = hidden_states.run();
  if (context.checkpointing == CheckpointKind::reentrant)
    return checkpoint_reentrant(run, std::move(layer), std::move(hidden_states));
  return checkpoint(
      run, [layer = std::move(layer), hidden_states = std::move(hidden_states)] { return layer(hidden_states); });
}

}  // namespace tidemark
