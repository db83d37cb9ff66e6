#include "zoo/causal_lm.h"

namespace tidemark {

BatchSizes text_batch(const Data& data, std::int64_t longest) {
  const Dims tokens{data.batch, data.seq > 0 ? data.seq : longest};
  BatchSizes sizes{.input_ids = tokens, .attention_mask = tokens, .labels = {}, .pixel_values = {}};
  if (data.labels) sizes.labels = tokens;
  return sizes;
}

ModelOutputs causal_lm_outputs(Module& root, Tensor hidden_states, const Batch& batch, DynamicCache cache,
                               bool softcap) {
  ModelOutputs outputs;
  Tensor logits = root["lm_head"](slice(hidden_states, 1, 0, hidden_states.size(1)));
  if (softcap) {
    logits = div_scalar(logits);
    logits = tanh(logits);
    logits = mul_scalar(logits);
  }
  if (batch.labels) outputs.loss = causal_lm_loss(logits, batch.labels);
  outputs.held.push_back(std::move(logits));
  for (auto& [key, value] : cache.layers) {
    outputs.held.push_back(std::move(key));
    outputs.held.push_back(std::move(value));
  }
  for (Tensor& window : cache.windows) outputs.held.push_back(std::move(window));
  return outputs;
}

std::unique_ptr<Model> make_causal_lm(const ModelRequest& request, const Decoder& decoder) {
  auto model = std::make_unique<Model>();
  Module& root = model->root;
  root.dtype = request.dtype;
  add_decoder(root.add("model"), decoder);
  add_linear(root, "lm_head", decoder.hidden_size, decoder.vocab_size, false);
  if (decoder.tie_word_embeddings) root["lm_head"].tie("weight", root["model"]["embed_tokens"], "weight");
  model->batch_sizes = [](const Data& data) { return text_batch(data, 2048); };
  model->forward = [&root, decoder, context = request.context](const Batch& batch) {
    const InModule scope(batch.input_ids.run(), root);
    DynamicCache cache{.enabled = context.use_cache, .layers = {}, .windows = {}};
    const Tensor hidden_states =
        decoder_model(root["model"], decoder, context, batch.input_ids, {}, batch.attention_mask, cache);
    return causal_lm_outputs(root, hidden_states, batch, std::move(cache), decoder.logit_softcap);
  };
  return model;
}

}  // namespace tidemark
