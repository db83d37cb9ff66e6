// LlamaForCausalLM and those that differ from it by their decoder alone.
#pragma once
#include "nn/decoder.h"
#include "zoo/checks.h"
#include "zoo/model.h"

namespace tidemark {

/// model, lm_head; tied to the embedding when `tie` says so.
std::unique_ptr<Model> make_causal_lm(const ModelRequest& request, const Decoder& decoder, bool tie);

/// Token ids, mask and labels of one batch of text; `longest` is what the model takes when nothing is said.
BatchSizes text_batch(const Data& data, std::int64_t longest);
/// The same for a model that learned its positions and takes no images; the sizes are checked.
std::function<BatchSizes(const Data&)> text_batches(Keyed positions);

/// Half-precision or not, the logits end in this loss.  transformers: LlamaForCausalLM.forward from lm_head on
ModelOutputs causal_lm_outputs(Module& root, Tensor hidden_states, const Batch& batch, DynamicCache cache,
                               bool softcap = false);

}  // namespace tidemark
