// transformers: models/bert/{configuration,modeling}_bert.py (5.17.0)
#include "nn/post_norm_encoder.h"
#include "zoo/causal_lm.h"
#include "zoo/classification.h"
#include "zoo/index.h"

namespace tidemark {
namespace {

struct BertConfig {
  std::int64_t vocab_size = 30522, max_position_embeddings = 512, type_vocab_size = 2, chunk_size_feed_forward = 0;
  std::optional<std::int64_t> pad_token_id = 0;
  PostNormEncoder encoder;
  std::optional<double> classifier_dropout;
  bool is_decoder = false, add_cross_attention = false, tie_word_embeddings = true;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    auto& e = c.encoder;
    visit_all(visit, kSize, "vocab_size", c.vocab_size, "hidden_size", e.hidden_size, "intermediate_size",
              e.intermediate_size, "num_attention_heads", e.num_attention_heads, "type_vocab_size", c.type_vocab_size,
              "max_position_embeddings", c.max_position_embeddings);
    visit("num_hidden_layers", e.num_hidden_layers, kLayers);
    visit_all(visit, kProbability, "classifier_dropout", c.classifier_dropout, "hidden_dropout_prob", e.hidden_dropout,
              "attention_probs_dropout_prob", e.attention_dropout);
    visit_all(visit, kAny, "hidden_act", e.hidden_act, "chunk_size_feed_forward", c.chunk_size_feed_forward,
              "is_decoder", c.is_decoder, "add_cross_attention", c.add_cross_attention, "tie_word_embeddings",
              c.tie_word_embeddings, "pad_token_id", c.pad_token_id);
  }
  static KeyNames harmless() {
    return {"layer_norm_eps"};
  }
};

void add_bert(Module& bert, const BertConfig& c, bool pooling) {
  const std::int64_t d = c.encoder.hidden_size;
  Module& embeddings = bert.add("embeddings");
  add_embedding(embeddings, "word_embeddings", c.vocab_size, d);
  add_embedding(embeddings, "position_embeddings", c.max_position_embeddings, d);
  add_embedding(embeddings, "token_type_embeddings", c.type_vocab_size, d);
  add_layer_norm(embeddings, "LayerNorm", d);
  add_dropout(embeddings, "dropout", c.encoder.hidden_dropout);
  for (const char* name : {"position_ids", "token_type_ids"})
    embeddings.buffer(name, {1, c.max_position_embeddings}, Dtype::int64);
  add_post_norm_encoder(bert, c.encoder);
  if (pooling) add_pooler(bert, d);
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
  return m["dropout"](embeddings);
}

/// BertModel.forward up to the pooler.
Tensor bert_forward(Module& m, const PostNormEncoder& config, const Context& context, const Batch& batch) {
  const InModule scope(batch.input_ids.run(), m);
  const Tensor embedding_output = embed(m["embeddings"], batch.input_ids);
  const Tensor mask = create_bidirectional_mask(context, embedding_output, batch.attention_mask);
  return post_norm_encoder(m["encoder"], {.config = config, .context = context, .mask = mask}, embedding_output);
}

void make_masked_lm(Model& model, const BertConfig& c, const ModelRequest& request) {
  Module& root = model.root;
  Module& embedding = root["bert"]["embeddings"]["word_embeddings"];
  add_masked_lm_head(root.add("cls").add("predictions"), c.encoder, embedding, c.tie_word_embeddings);
  model.forward = [&root, config = c.encoder, context = request.context](const Batch& batch) {
    const InModule scope(batch.input_ids.run(), root);
    const Tensor sequence_output = bert_forward(root["bert"], config, context, batch);
    return classified(masked_lm_head(root["cls"]["predictions"], sequence_output), batch);
  };
}

void make_sequence_classification(Model& model, const BertConfig& c, const ModelRequest& request) {
  Module& root = model.root;
  add_dropout(root, "dropout", c.classifier_dropout.value_or(c.encoder.hidden_dropout));
  add_linear(root, "classifier", c.encoder.hidden_size, count_labels(request.config), true);
  model.forward = [&root, config = c.encoder, context = request.context](const Batch& batch) {
    const InModule scope(batch.input_ids.run(), root);
    const Tensor sequence_output = bert_forward(root["bert"], config, context, batch);
    const Tensor pooled_output = root["dropout"](pooler(root["bert"]["pooler"], sequence_output));
    return classified(root["classifier"](pooled_output), batch);
  };
}

}  // namespace

std::unique_ptr<Model> make_bert(const ModelRequest& request) {
  const auto c = read_config<BertConfig>(request.config);
  refuse(c.is_decoder, "is_decoder", "true");
  refuse(c.add_cross_attention, "add_cross_attention", "true");
  refuse(c.chunk_size_feed_forward != 0, "chunk_size_feed_forward", "not 0");
  check_divides({"hidden_size", c.encoder.hidden_size}, {"num_attention_heads", c.encoder.num_attention_heads});
  check_padding_index(c.pad_token_id, c.vocab_size);
  std::unique_ptr<Model> model = new_model(request);
  const bool classifies = request.head == "sequence_classification";
  model->batch_sizes = [texts = text_batches({"max_position_embeddings", c.max_position_embeddings}), classifies,
                        longest = c.max_position_embeddings](const Data& data) {
    BatchSizes sizes = texts(data);
    check_length(sizes, {"max_position_embeddings", longest});  // its position_ids are a buffer of that length
    if (classifies && sizes.labels) sizes.labels = Dims{data.batch};
    return sizes;
  };
  add_bert(model->root.add("bert"), c, classifies);
  (classifies ? make_sequence_classification : make_masked_lm)(*model, c, request);
  return model;
}

}  // namespace tidemark
