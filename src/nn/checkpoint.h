// transformers.GradientCheckpointingLayer: a layer called in the way that checkpointing asks for.
#pragma once
#include <functional>

#include "nn/context.h"
#include "tensor/run.h"

namespace tidemark {

/// PreTrainedModel.gradient_checkpointing_enable(every_n_layers).  Such a layer gets no key-value cache.
bool is_checkpointed(const Context& context, std::int64_t index);

/// layer(hidden_states), checkpointed or not.  `layer` is called again in backward, after this has returned: it may
/// refer to modules and configurations, and must hold tensors by value, as the reference's partial() does.
Tensor checkpoint_layer(const Context& context, std::int64_t index, Tensor hidden_states,
                        std::function<Tensor(Tensor)> layer);

}  // namespace tidemark
