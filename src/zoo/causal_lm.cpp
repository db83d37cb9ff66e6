#include "zoo/causal_lm.h"

#include "zoo/classification.h"

namespace tidemark {

BatchSizes text_batch(const Data& data, std::int64_t longest) {
  const Dims tokens{data.batch, data.seq > 0 ? data.seq : longest};
  BatchSizes sizes{.input_ids = tokens, .attention_mask = tokens, .labels = {}, .pixel_values = {}};
  if (data.labels) sizes.labels = tokens;
  return sizes;
}

namespace {

/// LlamaForCausalLM.forward from lm_head on
ModelOutputs causal_lm_outputs(Module& root, const Tensor& hidden_states, const Batch& batch, bool softcap) {
  ModelOutputs outputs;
  Tensor logits = root["lm_head"](slice(hidden_states, 1, 0, hidden_states.size(1)));
  if (softcap) {
    logits = div_scalar(logits);
    logits = tanh(logits);
    logits = mul_scalar(logits);
  }
  if (batch.labels) outputs.loss = causal_lm_loss(logits, batch.labels);
  outputs.held.push_back(std::move(logits));
  return outputs;
}

}  // namespace

std::function<BatchSizes(const Data&)> text_batches(Keyed positions, bool learned) {
  return [key = std::string(positions.key), longest = positions.value, learned](const Data& data) {
    check_no_images(data);
    BatchSizes sizes = text_batch(data, longest);
    if (learned) note_length(sizes, {key, longest});
    return sizes;
  };
}

std::unique_ptr<Model> new_model(const ModelRequest& request) {
  auto model = std::make_unique<Model>();
  model->root.dtype = request.dtype;
  return model;
}

void finish_text_model(Model& model, const ModelRequest& request, Module& embedding, const TextHead& head,
                       TextForward forward) {
  Module& root = model.root;
  const Dims sizes = embedding.get("weight").sizes;
  const bool classifies = request.head == "sequence_classification", padded = head.pad_token_id.has_value();
  if (classifies) {
    add_linear(root, "score", sizes[1], count_labels(request.config), false);
    model.batch_sizes = [texts = std::move(model.batch_sizes), padded](const Data& data) {
      return with_one_label(texts(data), padded);
    };
  } else {
    add_linear(root, "lm_head", sizes[1], sizes[0], false);
    if (head.tie_word_embeddings) root["lm_head"].tie("weight", embedding, "weight");
  }
  model.forward = [&root, enabled = request.context.use_cache, body = std::move(forward), classifies, padded,
                   softcap = head.softcap](const Batch& batch) {
    const InModule scope(batch.input_ids.run(), root);
    DynamicCache cache{.enabled = enabled, .layers = {}, .windows = {}};
    std::vector<Tensor> held;
    const Tensor hidden_states = body(batch, cache, held);
    ModelOutputs outputs = classifies ? sequence_classified(root, hidden_states, batch, padded)
                                      : causal_lm_outputs(root, hidden_states, batch, softcap);
    for (auto& [key, value] : cache.layers) {
      outputs.cache.push_back(std::move(key));
      outputs.cache.push_back(std::move(value));
    }
    for (Tensor& window : cache.windows) outputs.cache.push_back(std::move(window));
    for (Tensor& tensor : held) outputs.held.push_back(std::move(tensor));
    return outputs;
  };
}

std::unique_ptr<Model> make_causal_lm(const ModelRequest& request, const Decoder& decoder) {
  check_decoder(decoder);
  std::unique_ptr<Model> model = new_model(request);
  Module& m = model->root.add("model");
  add_decoder(m, decoder);
  model->batch_sizes = text_batches({"max_position_embeddings", 2048}, false);
  finish_text_model(
      *model, request, m["embed_tokens"], {decoder.tie_word_embeddings, decoder.logit_softcap, decoder.pad_token_id},
      [&m, decoder, context = request.context](const Batch& batch, DynamicCache& cache, std::vector<Tensor>&) {
        return decoder_model(m, decoder, context, batch.input_ids, {}, batch.attention_mask, cache);
      });
  return model;
}

}  // namespace tidemark
