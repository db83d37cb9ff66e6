// transformers: models/bert/{configuration,modeling}_bert.py (5.17.0)
#include "nn/post_norm_encoder.h"
#include "zoo/causal_lm.h"
#include "zoo/classification.h"
#include "zoo/index.h"
#include "zoo/text_config.h"

namespace tidemark {
namespace {

struct BertConfig : TextConfig {
  std::int64_t intermediate_size = 3072, type_vocab_size = 2, chunk_size_feed_forward = 0;
  std::optional<double> classifier_dropout;
  double hidden_dropout_prob = 0.1, attention_probs_dropout_prob = 0.1;
  bool is_decoder = false, add_cross_attention = false;
  LabelConfig labels;

  BertConfig() {
    vocab_size = 30522, hidden_size = 768, num_hidden_layers = 12, num_attention_heads = 12;
    max_position_embeddings = 512, hidden_act = "gelu", tie_word_embeddings = true;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    TextConfig::fields(c, visit);
    visit_all(visit, kSize, "intermediate_size", c.intermediate_size, "type_vocab_size", c.type_vocab_size);
    visit_all(visit, kProbability, "classifier_dropout", c.classifier_dropout, "hidden_dropout_prob",
              c.hidden_dropout_prob, "attention_probs_dropout_prob", c.attention_probs_dropout_prob);
    visit_all(visit, kAny, "chunk_size_feed_forward", c.chunk_size_feed_forward, "is_decoder", c.is_decoder,
              "add_cross_attention", c.add_cross_attention);
    LabelConfig::visit_fields(c.labels, visit);
  }
  static KeyNames harmless() {
    return {"layer_norm_eps", "gradient_checkpointing", "position_embedding_type", "pooler_*", "directionality"};
  }

  PostNormEncoder encoder() const {
    return {.hidden_size = hidden_size,
            .intermediate_size = intermediate_size,
            .num_hidden_layers = num_hidden_layers,
            .num_attention_heads = num_attention_heads,
            .hidden_act = hidden_act,
            .hidden_dropout = hidden_dropout_prob,
            .attention_dropout = attention_probs_dropout_prob};
  }
};

void add_bert(Module& bert, const BertConfig& c, bool pooling) {
  Module& embeddings = bert.add("embeddings");
  add_embedding(embeddings, "word_embeddings", c.vocab_size, c.hidden_size);
  add_embedding(embeddings, "position_embeddings", c.max_position_embeddings, c.hidden_size);
  add_embedding(embeddings, "token_type_embeddings", c.type_vocab_size, c.hidden_size);
  add_layer_norm(embeddings, "LayerNorm", c.hidden_size);
  add_dropout(embeddings, "dropout", c.hidden_dropout_prob);
  for (const char* name : {"position_ids", "token_type_ids"})
    embeddings.buffer(name, {1, c.max_position_embeddings}, Dtype::int64);
  add_post_norm_encoder(bert, c.encoder());
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

/// BertModel.forward up to the pooler.
Tensor bert_forward(Module& m, const PostNormEncoder& config, const Context& context, const Batch& batch) {
  const InModule scope(batch.input_ids.run(), m);
  const Tensor embedding_output = embed(m["embeddings"], batch.input_ids);
  const Tensor mask = create_bidirectional_mask(context, embedding_output, batch.attention_mask);
  return post_norm_encoder(m["encoder"], {.config = config, .context = context, .mask = mask}, embedding_output);
}

/// BertPooler.forward
Tensor pool(Module& m, const Tensor& hidden_states) {
  const InModule scope(hidden_states.run(), m);
  const Tensor first_token_tensor = select(hidden_states, 1, 0);
  Tensor pooled_output = m["dense"](first_token_tensor);
  pooled_output = m["activation"](pooled_output);
  return pooled_output;
}

void make_masked_lm(Model& model, const BertConfig& c, const Context& context) {
  Module& root = model.root;
  add_bert(root.add("bert"), c, false);
  Module& embedding = root["bert"]["embeddings"]["word_embeddings"];
  add_masked_lm_head(root.add("cls").add("predictions"), c.encoder(), embedding, c.tie_word_embeddings);
  model.forward = [&root, config = c.encoder(), context](const Batch& batch) {
    const InModule scope(batch.input_ids.run(), root);
    const Tensor sequence_output = bert_forward(root["bert"], config, context, batch);
    return classified(masked_lm_head(root["cls"]["predictions"], sequence_output), batch);
  };
}

void make_sequence_classification(Model& model, const BertConfig& c, const Context& context) {
  Module& root = model.root;
  add_bert(root.add("bert"), c, true);
  add_dropout(root, "dropout", c.classifier_dropout.value_or(c.hidden_dropout_prob));
  add_linear(root, "classifier", c.hidden_size, c.labels.count(), true);
  model.forward = [&root, config = c.encoder(), context](const Batch& batch) {
    const InModule scope(batch.input_ids.run(), root);
    const Tensor sequence_output = bert_forward(root["bert"], config, context, batch);
    Tensor pooled_output = pool(root["bert"]["pooler"], sequence_output);
    pooled_output = root["dropout"](pooled_output);
    return classified(root["classifier"](pooled_output), batch);
  };
}

}  // namespace

std::unique_ptr<Model> make_bert(const ModelRequest& request) {
  const auto c = read_config<BertConfig>(request.config);
  refuse(c.is_decoder, "is_decoder", "true");
  refuse(c.add_cross_attention, "add_cross_attention", "true");
  refuse(c.chunk_size_feed_forward != 0, "chunk_size_feed_forward", "not 0");
  std::unique_ptr<Model> model = new_model(request);
  const bool classifies = request.head == "sequence_classification";
  model->batch_sizes = [longest = c.max_position_embeddings, classifies](const Data& data) {
    BatchSizes sizes = text_batch(data, longest);
    if (classifies && sizes.labels) sizes.labels = Dims{data.batch};
    return sizes;
  };
  (classifies ? make_sequence_classification : make_masked_lm)(*model, c, request.context);
  return model;
}

}  // namespace tidemark
