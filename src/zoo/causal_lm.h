// LlamaForCausalLM and those that differ from it by their decoder alone.
#pragma once
#include "nn/decoder.h"
#include "zoo/model.h"

namespace tidemark {

/// model, lm_head.
std::unique_ptr<Model> make_causal_lm(const ModelRequest& request, const Decoder& decoder);

/// Token ids, mask and labels of one batch of text; `longest` is what the model takes when nothing is said.
BatchSizes text_batch(const Data& data, std::int64_t longest);

/// Half-precision or not, the logits end in this loss.  transformers: LlamaForCausalLM.forward from lm_head on
ModelOutputs causal_lm_outputs(Module& root, Tensor hidden_states, const Batch& batch, DynamicCache cache,
                               bool softcap = false);

}  // namespace tidemark
