// transformers.GradientCheckpointingLayer: a layer called in the way that checkpointing asks for.
#pragma once
#include <functional>

#include "nn/context.h"
#include "nn/module.h"
#include "tensor/run.h"

namespace tidemark {

/// PreTrainedModel.gradient_checkpointing_enable(every_n_layers), or GradientCheckpointingLayer.gradient_checkpointing
/// of chosen layers.  The run is told that it has the layer.
bool is_checkpointed(Run& run, const Context& context, std::int64_t index);

/// layer(hidden_states), checkpointed or not: what it returns, a tuple or one tensor.  `layer` is called again in
/// backward, after this has returned: it may refer to modules and configurations, and must hold tensors by value, as
/// the reference's partial() does.
Tensors checkpoint_layer(const Context& context, std::int64_t index, Tensor hidden_states,
                         std::function<Tensors(Tensor)> layer);

}  // namespace tidemark
