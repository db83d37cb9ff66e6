#include "zoo/causal_lm.h"

#include "zoo/classification.h"

namespace tidemark {

BatchSizes text_batch(const Data& data) {
  const Dims tokens{data.batch, data.seq > 0 ? data.seq : kUsualTokens};
  BatchSizes sizes{.input_ids = tokens, .attention_mask = tokens, .labels = {}, .pixel_values = {}};
  if (data.labels) sizes.labels = tokens;
  return sizes;
}

namespace {

/// LlamaForCausalLM.forward from lm_head on
ModelOutputs causal_lm_outputs(Module& lm_head, const Tensor& hidden_states, const Batch& batch, const TextHead& head,
                               const std::vector<Tensor>& held) {
  ModelOutputs outputs;
  Tensor logits = lm_head(slice(hidden_states, 1, 0, hidden_states.size(1)));
  if (batch.labels) outputs.loss = causal_lm_loss(logits, batch.labels, batch.shift_labels);
  if (head.experts.output_router_logits) {
    const Tensor aux_loss = load_balancing_loss(held, head.experts, batch.attention_mask);
    if (batch.labels) outputs.loss = add_(outputs.loss, mul_scalar(aux_loss));
    outputs.held.push_back(aux_loss);
  }
  outputs.held.push_back(std::move(logits));
  return outputs;
}

/// Where a model of text may be cut, if it may: its layers are alike, and its forward calls the embedding, and what is behind
/// them, on hidden states alone.
std::optional<Stack> stack_of(Module& root, Module& text, const Decoder& decoder, const ModelRequest& request) {
  const bool alike = decoder.full_attention ? !decoder.sliding_window : decoder.sliding_layers.empty();
  if (request.head == "sequence_classification" || !alike || decoder.experts.count > 0)
    return std::nullopt;
  return Stack{{&text["embed_tokens"]}, &text["layers"], {&text["norm"], &root["lm_head"]}, decoder.hidden_size};
}

}  // namespace

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
                   head](const Batch& batch) {
    const InModule scope(batch.input_ids.run(), root);
    DynamicCache cache{.enabled = enabled, .layers = {}, .windows = {}};
    std::vector<Tensor> held;
    const Tensor hidden_states = body(batch, cache, held);
    ModelOutputs outputs = classifies ? sequence_classified(root, hidden_states, batch, padded)
                                      : causal_lm_outputs(root["lm_head"], hidden_states, batch, head, held);
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
  refuse(request.head == "sequence_classification" && decoder.experts.output_router_logits, "output_router_logits",
         "true with a score for each class");
  model->batch_sizes = [has_experts = decoder.experts.count > 0,
                        skew = request.context.routing_skew](const Data& data) {
    check_no_images(data);
    BatchSizes sizes = text_batch(data);
    if (has_experts)
      sizes.assumptions.push_back(skew > 0 ? "top-k of float scores: skewed routing"
                                           : "top-k of float scores: balanced routing");
    return sizes;
  };
  finish_text_model(
      *model, request, m["embed_tokens"],
      {.tie_word_embeddings = decoder.tie_word_embeddings,
       .pad_token_id = decoder.pad_token_id,
       .experts = decoder.experts},
      [&m, decoder, context = request.context](const Batch& batch, DynamicCache& cache, std::vector<Tensor>& held) {
        const auto captured = decoder.experts.output_router_logits ? std::make_shared<CapturedOutputs>() : nullptr;
        Tensor hidden_states = decoder_model(m, decoder, context, batch.input_ids, {}, batch.attention_mask, cache,
                                             captured, batch.position_ids);
        if (captured) held = std::move(captured->router_logits);
        return hidden_states;
      });
  model->stack = stack_of(model->root, m, decoder, request);
  model->takes_positions = request.head != "sequence_classification" && decoder.rope.kind == RopeUpdate::Kind::none;
  return model;
}

}  // namespace tidemark
