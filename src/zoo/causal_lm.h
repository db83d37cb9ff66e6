// LlamaForCausalLM and those that differ from it by their decoder alone.
#pragma once
#include "nn/decoder.h"
#include "zoo/checks.h"
#include "zoo/model.h"
#include "zoo/text_config.h"

namespace tidemark {

/// model, lm_head.
std::unique_ptr<Model> make_causal_lm(const ModelRequest& request, const Decoder& decoder);

/// Token ids, mask and labels of one batch of text.
BatchSizes text_batch(const Data& data);

/// A model without modules, whose weights are of the type asked for.
std::unique_ptr<Model> new_model(const ModelRequest& request);

/// What a model of text, with images or without, ends in.
struct TextHead {
  bool tie_word_embeddings = false;
  std::optional<std::int64_t> pad_token_id = {};
  Experts experts = {};  // whose routers' loss is added; their logits are what is held
};
/// From a batch to (B, S, D); what the outputs hold besides logits and cache goes to `held`.
using TextForward = std::function<Tensor(const Batch& batch, DynamicCache& cache, std::vector<Tensor>& held)>;
/// Adds what the request asks for behind a model of text: lm_head, tied to the input embedding or not, or a score for
/// each class.
void finish_text_model(Model& model, const ModelRequest& request, Module& embedding, const TextHead& head,
                       TextForward forward);

}  // namespace tidemark
