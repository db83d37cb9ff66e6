// transformers.GradientCheckpointingLayer: a layer called in the way that checkpointing asks for.
#pragma once
#include <functional>

#include "nn/context.h"
#include "nn/module.h"
#include "tensor/run.h"

namespace tidemark {

/// PreTrainedModel.gradient_checkpointing_enable(every_n_layers), or GradientCheckpointingLayer.gradient_checkpointing of
/// chosen layers.  The run is told that it has the layer.
bool is_checkpointed(Run& run, const Context& context, std::int64_t index);

/// layer(hidden_states), checkpointed or not: what it returns, a tuple or one tensor.  `layer` is called again in
/// backward, after this has returned: it may refer to modules and configurations, and must hold tensors by value, as
/// the reference's partial() does.
Tensors checkpoint_layer(const Context& context, std::int64_t index, Tensor hidden_states,
                         std::function<Tensors(Tensor)> layer);

/// hidden_states through every layer of an nn.ModuleList.
template <class Inputs>
Tensor run_layers(Module& layers, Tensor hidden_states, const Inputs& inputs,
                  Tensor (*layer)(Module& m, Tensor x, const Inputs& inputs, std::size_t index)) {
  for (const std::unique_ptr<Module>& child : layers.children()) {
    const std::size_t i = child->place();
    hidden_states =
        checkpoint_layer(inputs.context, static_cast<std::int64_t>(i), hidden_states,
                         [&m = *child, inputs, i, layer](Tensor x) { return layer(m, std::move(x), inputs, i); })[0];
  }
  return hidden_states;
}

}  // namespace tidemark
