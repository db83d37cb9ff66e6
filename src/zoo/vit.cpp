// transformers: models/vit/{configuration,modeling}_vit.py (5.17.0)
#include "zoo/classification.h"
#include "zoo/images.h"
#include "zoo/index.h"

namespace tidemark {
namespace {

struct VitConfig {
  std::int64_t hidden_size = 768, num_hidden_layers = 12, num_attention_heads = 12, intermediate_size = 3072;
  std::int64_t image_size = 224, patch_size = 16, num_channels = 3;
  std::string hidden_act = "gelu";
  double hidden_dropout_prob = 0, attention_probs_dropout_prob = 0;
  bool qkv_bias = true;
  LabelConfig labels;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit("hidden_size", c.hidden_size, kSize);
    visit("num_hidden_layers", c.num_hidden_layers, kLayers);
    visit("num_attention_heads", c.num_attention_heads, kSize);
    visit("intermediate_size", c.intermediate_size, kSize);
    visit("image_size", c.image_size, kSize);
    visit("patch_size", c.patch_size, kSize);
    visit("num_channels", c.num_channels, kSize);
    visit("hidden_act", c.hidden_act, kAny);
    visit("hidden_dropout_prob", c.hidden_dropout_prob, kProbability);
    visit("attention_probs_dropout_prob", c.attention_probs_dropout_prob, kProbability);
    visit("qkv_bias", c.qkv_bias, kAny);
    LabelConfig::visit_fields(c.labels, visit);
  }
  static KeyNames harmless() { return {"layer_norm_eps", "encoder_stride", "pooler_act", "pooler_output_size"}; }
};

Encoder encoder_of(const VitConfig& c) {
  return {.hidden_size = c.hidden_size,
          .intermediate_size = c.intermediate_size,
          .num_hidden_layers = c.num_hidden_layers,
          .num_attention_heads = c.num_attention_heads,
          .hidden_act = c.hidden_act,
          .attention_dropout = c.attention_probs_dropout_prob,
          .hidden_dropout = c.hidden_dropout_prob,
          .attention = "attention",
          .output = "o_proj",
          .before = "layernorm_before",
          .after = "layernorm_after"};
}

void add_vit(Module& m, const VitConfig& c, const Encoder& e) {
  const std::int64_t d = c.hidden_size, patches = (c.image_size / c.patch_size) * (c.image_size / c.patch_size);
  Module& embeddings =
      m.add("embeddings").parameter("cls_token", {1, 1, d}).parameter("position_embeddings", {1, patches + 1, d});
  add_patch_convolution(embeddings.add("patch_embeddings"), "projection", c.num_channels, d,
                        {c.patch_size, c.patch_size}, true);
  Module& layers = m.add("layers");
  for (std::int64_t i = 0; i < c.num_hidden_layers; ++i) {
    Module& layer = layers.add(std::to_string(i));
    Module& attention = layer.add("attention");
    for (const char* name : {"q_proj", "k_proj", "v_proj"}) add_linear(attention, name, d, d, c.qkv_bias);
    add_linear(attention, "o_proj", d, d, true);
    add_layer_norm(layer, "layernorm_before", d);
    add_layer_norm(layer, "layernorm_after", d);
    add_encoder_mlp(layer, e);
  }
  add_layer_norm(m, "layernorm", d);
}

Tensor vit_embeddings(Module& m, const VitConfig& c, Tensor pixel_values) {
  const InModule scope(pixel_values.run(), m);
  const std::int64_t b = pixel_values.size(0), d = c.hidden_size;
  Tensor embeddings = transpose(view(m["patch_embeddings"]["projection"](std::move(pixel_values)), {b, d, -1}), 1, 2);
  const Tensor cls_tokens = expand(m("cls_token"), {b, -1, -1});
  embeddings = cat({cls_tokens, embeddings}, 1);
  embeddings = add(embeddings, m("position_embeddings"));
  embeddings = dropout(embeddings, c.hidden_dropout_prob);
  return embeddings;
}

Tensor vit_model(Module& m, const VitConfig& c, const Encoder& e, const Context& context, Tensor pixel_values) {
  const InModule scope(pixel_values.run(), m);
  pixel_values = to(std::move(pixel_values), m.dtype);
  const Tensor embedding_output = vit_embeddings(m["embeddings"], c, pixel_values);
  return m["layernorm"](encoder(m["layers"], e, context, embedding_output));
}

}  // namespace

std::unique_ptr<Model> make_vit(const ModelRequest& request) {
  const auto c = read_config<VitConfig>(request.config);
  auto model = std::make_unique<Model>();
  Module& root = model->root;
  root.dtype = request.dtype;
  const Encoder e = encoder_of(c);
  add_vit(root.add("vit"), c, e);
  add_linear(root, "classifier", c.hidden_size, c.labels.count(), true);
  model->batch_sizes = [c](const Data& data) { return image_batch(data, c.num_channels, c.image_size); };
  model->forward = [&root, c, e, context = request.context](const Batch& batch) {
    const InModule scope(batch.pixel_values.run(), root);
    const Tensor sequence_output = vit_model(root["vit"], c, e, context, batch.pixel_values);
    return classified(root["classifier"](select(sequence_output, 1, 0)), batch);
  };
  return model;
}

}  // namespace tidemark
