// Which tokens attend to which, as transformers builds it.  transformers: masking_utils.py (5.17.0)
#pragma once
#include <optional>

#include "nn/context.h"
#include "ops/ops.h"

namespace tidemark {

/// create_causal_mask for a batch that comes with attention_mask (B, S): none when sdpa can do without, else (B, 1, S,
/// S), boolean for sdpa, in the type of inputs_embeds for eager attention.
Tensor create_causal_mask(const Context& context, const Tensor& inputs_embeds, const Tensor& attention_mask);
/// create_sliding_window_causal_mask
Tensor create_sliding_window_causal_mask(const Context& context, const Tensor& inputs_embeds,
                                         const Tensor& attention_mask, std::int64_t window);
/// create_bidirectional_mask
Tensor create_bidirectional_mask(const Context& context, const Tensor& inputs_embeds, const Tensor& attention_mask);

}  // namespace tidemark
