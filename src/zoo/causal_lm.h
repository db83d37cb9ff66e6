// LlamaForCausalLM and those that differ from it by their decoder alone.
#pragma once
#include "nn/decoder.h"
#include "zoo/checks.h"
#include "zoo/model.h"

namespace tidemark {

/// model, lm_head.
std::unique_ptr<Model> make_causal_lm(const ModelRequest& request, const Decoder& decoder);

/// Token ids, mask and labels of one batch of text; `longest` is what the model takes when nothing is said.
BatchSizes text_batch(const Data& data, std::int64_t longest);
/// The same for a model that learned its positions and takes no images; the sizes are checked.
std::function<BatchSizes(const Data&)> text_batches(Keyed positions);

/// Adds lm_head behind a model of text, tied to its input embedding or not; `forward` is what the model does before it.
void finish_causal_lm(Model& model, const Context& context, Module& embedding, bool tie, std::int64_t longest,
                      std::function<Tensor(const Batch&, DynamicCache&)> forward, bool softcap = false);
/// The same of a family's own forward: body(input_ids) -> (B, S, D).
/// `positions` names the key of the positions that the model learned, if it did.
template <class Config>
void finish_causal_lm(Model& model, const ModelRequest& request, const Config& c, Module& body, const char* embedding,
                      Tensor (*forward)(Module& body, LayerInputs<Config> inputs, const Batch& batch),
                      const char* positions = nullptr) {
  finish_causal_lm(model, request.context, body[embedding], c.tie_word_embeddings, c.max_position_embeddings,
                   [&body, c, context = request.context, forward](const Batch& batch, DynamicCache& cache) {
                     DynamicCache* used = cache.enabled ? &cache : nullptr;
                     return forward(body, {.config = c, .context = context, .cache = used}, batch);
                   });
  if (positions) model.batch_sizes = text_batches({positions, c.max_position_embeddings});
}

/// A model without modules, whose weights are of the type asked for.
std::unique_ptr<Model> new_model(const ModelRequest& request);

/// Half-precision or not, the logits end in this loss.  transformers: LlamaForCausalLM.forward from lm_head on
ModelOutputs causal_lm_outputs(Module& root, Tensor hidden_states, const Batch& batch, DynamicCache cache,
                               bool softcap = false);

}  // namespace tidemark
