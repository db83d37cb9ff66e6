// LlamaForCausalLM and those that differ from it by their decoder alone.
#pragma once
#include "nn/decoder.h"
#include "zoo/checks.h"
#include "zoo/model.h"
#include "zoo/text_config.h"

namespace tidemark {

/// model, lm_head.
std::unique_ptr<Model> make_causal_lm(const ModelRequest& request, const Decoder& decoder);

/// Token ids, mask and labels of one batch of text; `longest` is what the model takes when nothing is said.
BatchSizes text_batch(const Data& data, std::int64_t longest);
/// The same for a model of text alone; samples longer than the positions that it learned, if it did, are noted.
std::function<BatchSizes(const Data&)> text_batches(Keyed positions, bool learned = true);

/// A model without modules, whose weights are of the type asked for.
std::unique_ptr<Model> new_model(const ModelRequest& request);

/// What a model of text, with images or without, ends in.
struct TextHead {
  bool tie_word_embeddings = false;
  std::optional<std::int64_t> pad_token_id = {};
  const char* name = "lm_head";
  bool bias = false;
  Experts experts = {};  // whose routers' loss is added; their logits are what is held
};
/// From a batch to (B, S, D); what the outputs hold besides logits and cache goes to `held`.
using TextForward = std::function<Tensor(const Batch& batch, DynamicCache& cache, std::vector<Tensor>& held)>;
/// Adds what the request asks for behind a model of text: lm_head, tied to the input embedding or not, or a score for
/// each class.
void finish_text_model(Model& model, const ModelRequest& request, Module& embedding, const TextHead& head,
                       TextForward forward);

/// Where a forward takes hidden states for tokens when nn.Identity stands for the embedding.
struct TextCut {
  const char *behind_embedding, *layers, *norm;
};

/// A family with a forward of its own.
template <class Config>
struct TextFamily {
  Module& (*add)(Module& root, const Config& config);  // the body, whose `embedding` is the tokens'
  const char* embedding;
  Tensor (*forward)(Module& body, LayerInputs<Config> inputs, const Batch& batch);  // (B, S) -> (B, S, D)
  bool learned_positions = false;
  const char* head = "lm_head";
  bool head_bias = false;
  std::optional<TextCut> cut = {};
  bool takes_positions = false;
};
template <class Config>
std::unique_ptr<Model> make_causal_lm(const ModelRequest& request, const Config& c, const TextFamily<Config>& family) {
  constexpr TextConfigNames names = Config::kNames;
  check_divides({names.hidden_size, c.hidden_size}, {names.num_attention_heads, c.num_attention_heads});
  check_padding_index(c.pad_token_id, c.vocab_size);
  std::unique_ptr<Model> model = new_model(request);
  Module& body = family.add(model->root, c);
  model->batch_sizes =
      text_batches({names.max_position_embeddings, c.max_position_embeddings}, family.learned_positions);
  finish_text_model(*model, request, body[family.embedding],
                    {c.tie_word_embeddings, c.pad_token_id, family.head, family.head_bias},
                    [&body, c, context = request.context, forward = family.forward](
                        const Batch& batch, DynamicCache& cache, std::vector<Tensor>&) {
                      DynamicCache* used = cache.enabled ? &cache : nullptr;
                      return forward(body, {.config = c, .context = context, .cache = used}, batch);
                    });
  if (const auto& cut = family.cut; cut && request.head != "sequence_classification")
    model->stack = Stack{{&body[family.embedding], &body[cut->behind_embedding]},
                         &body[cut->layers],
                         {&body[cut->norm], &model->root["lm_head"]},
                         c.hidden_size};
  model->takes_positions = family.takes_positions && request.head != "sequence_classification";
  return model;
}

}  // namespace tidemark
