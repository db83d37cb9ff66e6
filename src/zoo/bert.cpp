// transformers: models/bert/{configuration,modeling}_bert.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/hf_config.h"
#include "zoo/index.h"

namespace tidemark {
namespace {

struct BertConfig {
  std::int64_t vocab_size = 30522, hidden_size = 768, num_hidden_layers = 12, num_attention_heads = 12;
  std::int64_t intermediate_size = 3072, max_position_embeddings = 512, type_vocab_size = 2;
  std::optional<double> classifier_dropout;
  std::string hidden_act = "gelu";
  double hidden_dropout_prob = 0.1, attention_probs_dropout_prob = 0.1;
  bool is_decoder = false, add_cross_attention = false, tie_word_embeddings = true;
  std::int64_t chunk_size_feed_forward = 0;
  LabelConfig labels;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit("vocab_size", c.vocab_size, kSize);
    visit("hidden_size", c.hidden_size, kSize);
    visit("num_hidden_layers", c.num_hidden_layers, kLayers);
    visit("num_attention_heads", c.num_attention_heads, kSize);
    visit("intermediate_size", c.intermediate_size, kSize);
    visit("max_position_embeddings", c.max_position_embeddings, kSize);
    visit("type_vocab_size", c.type_vocab_size, kSize);
    visit("num_labels", c.labels.num_labels, kSize);
    visit("id2label", c.labels.id2label, kAny);
    visit("problem_type", c.labels.problem_type, kAny);
    visit("classifier_dropout", c.classifier_dropout, kProbability);
    visit("hidden_act", c.hidden_act, kAny);
    visit("hidden_dropout_prob", c.hidden_dropout_prob, kProbability);
    visit("attention_probs_dropout_prob", c.attention_probs_dropout_prob, kProbability);
    visit("chunk_size_feed_forward", c.chunk_size_feed_forward, kAny);
    visit("is_decoder", c.is_decoder, kAny);
    visit("add_cross_attention", c.add_cross_attention, kAny);
    visit("tie_word_embeddings", c.tie_word_embeddings, kAny);
  }
  static KeyNames harmless() {
    return {"layer_norm_eps", "gradient_checkpointing", "position_embedding_type", "pooler_*", "directionality"};
  }
};

/// BertSelfOutput and BertOutput: dense, LayerNorm, dropout.
void add_output(Module& parent, std::int64_t in, const BertConfig& c) {
  Module& m = parent.add("output");
  add_linear(m, "dense", in, c.hidden_size, true);
  add_layer_norm(m, "LayerNorm", c.hidden_size);
  add_dropout(m, "dropout", c.hidden_dropout_prob);
}

void add_layer(Module& layer, const BertConfig& c) {
  Module& attention = layer.add("attention");
  Module& self = attention.add("self");
  for (const char* name : {"query", "key", "value"}) add_linear(self, name, c.hidden_size, c.hidden_size, true);
  add_dropout(self, "dropout", c.attention_probs_dropout_prob);
  add_output(attention, c.hidden_size, c);
  Module& intermediate = layer.add("intermediate");
  add_linear(intermediate, "dense", c.hidden_size, c.intermediate_size, true);
  add_activation(intermediate, "intermediate_act_fn", c.hidden_act);
  add_output(layer, c.intermediate_size, c);
}

void add_bert(Module& bert, const BertConfig& c, bool pooling) {
  Module& embeddings = bert.add("embeddings");
  add_embedding(embeddings, "word_embeddings", c.vocab_size, c.hidden_size);
  add_embedding(embeddings, "position_embeddings", c.max_position_embeddings, c.hidden_size);
  add_embedding(embeddings, "token_type_embeddings", c.type_vocab_size, c.hidden_size);
  add_layer_norm(embeddings, "LayerNorm", c.hidden_size);
  add_dropout(embeddings, "dropout", c.hidden_dropout_prob);
  for (const char* name : {"position_ids", "token_type_ids"})
    embeddings.buffer(name, {1, c.max_position_embeddings}, Dtype::int64);
  Module& layers = bert.add("encoder").add("layer");
  for (std::int64_t i = 0; i < c.num_hidden_layers; ++i) add_layer(layers.add(std::to_string(i)), c);
  if (!pooling) return;
  Module& pooler = bert.add("pooler");
  add_linear(pooler, "dense", c.hidden_size, c.hidden_size, true);
  add_activation(pooler, "activation", "tanh");
}

/// BertEmbeddings.forward
Tensor embed(Module& m, const Tensor& input_ids) {
  const InModule scope(input_ids.run(), m);
  const std::int64_t batch = input_ids.size(0), length = input_ids.size(1);
  const Tensor position_ids = slice(m("position_ids"), 1, 0, length);
  const Tensor token_type_ids = expand(gather(m("token_type_ids"), position_ids), {batch, length});
  const Tensor inputs_embeds = m["word_embeddings"](input_ids);
  const Tensor token_type_embeddings = m["token_type_embeddings"](token_type_ids);
  Tensor embeddings = add(inputs_embeds, token_type_embeddings);
  const Tensor position_embeddings = m["position_embeddings"](position_ids);
  embeddings = add(embeddings, position_embeddings);
  embeddings = m["LayerNorm"](embeddings);
  embeddings = m["dropout"](embeddings);
  return embeddings;
}

/// What every layer of one forward pass is given.
struct LayerInputs {
  const BertConfig& config;
  const Context& context;
  Tensor mask;
};

/// BertSelfAttention.forward
Attended self_attention(Module& m, const Tensor& hidden_states, const LayerInputs& inputs) {
  const InModule scope(hidden_states.run(), m);
  const BertConfig& c = inputs.config;
  const std::int64_t b = hidden_states.size(0), s = hidden_states.size(1);
  const auto heads = [&](const char* name) {
    return transpose(view(m[name](hidden_states), {b, s, -1, c.hidden_size / c.num_attention_heads}), 1, 2);
  };
  const Tensor query_layer = heads("query");
  const Tensor key_layer = heads("key");
  const Tensor value_layer = heads("value");
  const AttentionCall call{.kind = inputs.context.attention,
                           .dropout = c.attention_probs_dropout_prob,
                           .is_causal = false,
                           .softmax_in_f32 = false};
  auto [attn_output, attn_weights] = attention_interface(call, query_layer, key_layer, value_layer, inputs.mask);
  attn_output = contiguous(reshape(std::move(attn_output), {b, s, -1}));
  return {std::move(attn_output), std::move(attn_weights)};
}

/// BertSelfOutput.forward and BertOutput.forward
Tensor output(Module& m, Tensor input, const Tensor& input_tensor) {
  const Tensor argument = std::move(input);
  const InModule scope(argument.run(), m);
  Tensor hidden_states = argument;
  hidden_states = m["dense"](hidden_states);
  hidden_states = m["dropout"](hidden_states);
  hidden_states = m["LayerNorm"](add(hidden_states, input_tensor));
  return hidden_states;
}

/// BertAttention.forward
Attended attention(Module& m, const Tensor& hidden_states, const LayerInputs& inputs) {
  const InModule scope(hidden_states.run(), m);
  auto [attention_output, attn_weights] = self_attention(m["self"], hidden_states, inputs);
  attention_output = output(m["output"], attention_output, hidden_states);
  return {std::move(attention_output), std::move(attn_weights)};
}

/// BertIntermediate.forward
Tensor intermediate(Module& m, const Tensor& input) {
  const InModule scope(input.run(), m);
  Tensor hidden_states = m["dense"](input);
  hidden_states = m["intermediate_act_fn"](hidden_states);
  return hidden_states;
}

/// BertLayer.forward
Tensor layer_forward(Module& m, Tensor input, const LayerInputs& inputs) {
  const Tensor hidden_states = std::move(input);
  const InModule scope(hidden_states.run(), m);
  const Attended attended = attention(m["attention"], hidden_states, inputs);
  const Tensor intermediate_output = intermediate(m["intermediate"], attended.output);
  return output(m["output"], intermediate_output, attended.output);
}

/// BertModel.forward up to the pooler.
Tensor bert_forward(Module& m, const BertConfig& config, const Context& context, const Batch& batch) {
  const InModule scope(batch.input_ids.run(), m);
  const Tensor embedding_output = embed(m["embeddings"], batch.input_ids);
  const LayerInputs inputs{config, context, create_bidirectional_mask(context, embedding_output, batch.attention_mask)};
  Module& layers = m["encoder"]["layer"];
  Tensor hidden_states = embedding_output;
  for (std::size_t i = 0; i < layers.children().size(); ++i)
    hidden_states = checkpoint_layer(
        context, static_cast<std::int64_t>(i), hidden_states,
        [&layer = layers[i], inputs](Tensor x) { return layer_forward(layer, std::move(x), inputs); });
  return hidden_states;
}

/// BertLMPredictionHead.forward
Tensor predictions(Module& m, const Tensor& sequence_output) {
  Tensor hidden_states = sequence_output;
  {
    Module& transform = m["transform"];
    for (const char* step : {"dense", "transform_act_fn", "LayerNorm"}) hidden_states = transform[step](hidden_states);
  }
  hidden_states = m["decoder"](hidden_states);
  return hidden_states;
}

/// BertPooler.forward
Tensor pool(Module& m, const Tensor& hidden_states) {
  const InModule scope(hidden_states.run(), m);
  const Tensor first_token_tensor = select(hidden_states, 1, 0);
  Tensor pooled_output = m["dense"](first_token_tensor);
  pooled_output = m["activation"](pooled_output);
  return pooled_output;
}

/// CrossEntropyLoss()(logits.view(-1, classes), labels.view(-1))
ModelOutputs outputs_of(const Tensor& logits, const Batch& batch) {
  ModelOutputs outputs;
  if (batch.labels) outputs.loss = cross_entropy(view(logits, {-1, logits.size(-1)}), view(batch.labels, {-1}));
  outputs.held.push_back(logits);
  return outputs;
}

void make_masked_lm(Model& model, const BertConfig& c, const Context& context) {
  Module& root = model.root;
  add_bert(root.add("bert"), c, false);
  Module& head = root.add("cls").add("predictions");
  head.parameter("bias", {c.vocab_size});
  Module& transform = head.add("transform");
  add_linear(transform, "dense", c.hidden_size, c.hidden_size, true);
  add_activation(transform, "transform_act_fn", c.hidden_act);
  add_layer_norm(transform, "LayerNorm", c.hidden_size);
  Module& decoder = add_linear(head, "decoder", c.hidden_size, c.vocab_size, true);
  if (c.tie_word_embeddings) {
    decoder.tie("weight", root["bert"]["embeddings"]["word_embeddings"], "weight");
    decoder.tie("bias", head, "bias");
  }
  model.forward = [&root, c, context](const Batch& batch) {
    const InModule scope(batch.input_ids.run(), root);
    const Tensor sequence_output = bert_forward(root["bert"], c, context, batch);
    return outputs_of(predictions(root["cls"]["predictions"], sequence_output), batch);
  };
}

void make_sequence_classification(Model& model, const BertConfig& c, const Context& context) {
  const std::int64_t labels = c.labels.count();
  Module& root = model.root;
  add_bert(root.add("bert"), c, true);
  add_dropout(root, "dropout", c.classifier_dropout.value_or(c.hidden_dropout_prob));
  add_linear(root, "classifier", c.hidden_size, labels, true);
  model.forward = [&root, c, context](const Batch& batch) {
    const InModule scope(batch.input_ids.run(), root);
    const Tensor sequence_output = bert_forward(root["bert"], c, context, batch);
    Tensor pooled_output = pool(root["bert"]["pooler"], sequence_output);
    pooled_output = root["dropout"](pooled_output);
    return outputs_of(root["classifier"](pooled_output), batch);
  };
}

}  // namespace

std::unique_ptr<Model> make_bert(const ModelRequest& request) {
  const auto c = read_config<BertConfig>(request.config);
  refuse(c.is_decoder, "is_decoder", "true");
  refuse(c.add_cross_attention, "add_cross_attention", "true");
  refuse(c.chunk_size_feed_forward != 0, "chunk_size_feed_forward", "not 0");
  check_divides({"hidden_size", c.hidden_size}, {"num_attention_heads", c.num_attention_heads});
  check_padding_index(request.config, c.vocab_size, 0);
  auto model = std::make_unique<Model>();
  model->root.dtype = request.dtype;
  const bool classifies = request.head == "sequence_classification";
  model->batch_sizes = [texts = text_batches({"max_position_embeddings", c.max_position_embeddings}),
                        classifies, longest = c.max_position_embeddings](const Data& data) {
    BatchSizes sizes = texts(data);
    check_length(sizes, {"max_position_embeddings", longest});  // its position_ids are a buffer of that length
    if (classifies && sizes.labels) sizes.labels = Dims{data.batch};
    return sizes;
  };
  (classifies ? make_sequence_classification : make_masked_lm)(*model, c, request.context);
  return model;
}

}  // namespace tidemark
