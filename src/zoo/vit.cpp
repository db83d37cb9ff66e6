// transformers: models/vit/{configuration,modeling}_vit.py (5.17.0)
#include "zoo/checks.h"
#include "zoo/classification.h"
#include "zoo/images.h"
#include "zoo/index.h"

namespace tidemark {
namespace {

/// Of a layer, as ViT names its parts.
struct VitEncoder : Encoder {
  VitEncoder() { attention = "attention", output = "o_proj", before = "layernorm_before", after = "layernorm_after"; }
};

struct VitConfig {
  std::int64_t image_size = 224, patch_size = 16, num_channels = 3;
  VitEncoder encoder;
  bool qkv_bias = true;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    auto& e = c.encoder;
    visit_all(visit, kSize, "hidden_size", e.hidden_size, "intermediate_size", e.intermediate_size,
              "num_attention_heads", e.num_attention_heads, "image_size", c.image_size, "patch_size", c.patch_size,
              "num_channels", c.num_channels);
    visit("num_hidden_layers", e.num_hidden_layers, kLayers);
    visit_all(visit, kProbability, "hidden_dropout_prob", e.hidden_dropout, "attention_probs_dropout_prob",
              e.attention_dropout);
    visit_all(visit, kAny, "hidden_act", e.hidden_act, "qkv_bias", c.qkv_bias);
  }
  static KeyNames harmless() { return {"layer_norm_eps", "encoder_stride", "pooler_act", "pooler_output_size"}; }
};

void add_vit(Module& m, const VitConfig& c) {
  const std::int64_t d = c.encoder.hidden_size, patches = (c.image_size / c.patch_size) * (c.image_size / c.patch_size);
  Module& embeddings =
      m.add("embeddings").parameter("cls_token", {1, 1, d}).parameter("position_embeddings", {1, patches + 1, d});
  add_patch_convolution(embeddings.add("patch_embeddings"), "projection", c.num_channels, d,
                        {c.patch_size, c.patch_size}, true);
  Module& layers = m.add("layers");
  for (std::int64_t i = 0; i < c.encoder.num_hidden_layers; ++i) {
    Module& layer = layers.add(std::to_string(i));
    Module& attention = layer.add("attention");
    for (const char* name : {"q_proj", "k_proj", "v_proj"}) add_linear(attention, name, d, d, c.qkv_bias);
    add_linear(attention, "o_proj", d, d, true);
    add_layer_norm(layer, "layernorm_before", d);
    add_layer_norm(layer, "layernorm_after", d);
    add_encoder_mlp(layer, c.encoder);
  }
  add_layer_norm(m, "layernorm", d);
}

Tensor vit_embeddings(Module& m, const VitConfig& c, Tensor pixel_values) {
  const InModule scope(pixel_values.run(), m);
  const std::int64_t b = pixel_values.size(0), d = c.encoder.hidden_size;
  Tensor embeddings = transpose(view(m["patch_embeddings"]["projection"](std::move(pixel_values)), {b, d, -1}), 1, 2);
  const Tensor cls_tokens = expand(m("cls_token"), {b, -1, -1});
  embeddings = cat({cls_tokens, embeddings}, 1);
  embeddings = add(embeddings, m("position_embeddings"));
  embeddings = dropout(embeddings, c.encoder.hidden_dropout);
  return embeddings;
}

Tensor vit_model(Module& m, const VitConfig& c, const Context& context, Tensor pixel_values) {
  const InModule scope(pixel_values.run(), m);
  pixel_values = to(std::move(pixel_values), m.dtype);
  const Tensor embedding_output = vit_embeddings(m["embeddings"], c, pixel_values);
  return m["layernorm"](run_encoder_layers(m["layers"], c.encoder, context, embedding_output));
}

}  // namespace

std::unique_ptr<Model> make_vit(const ModelRequest& request) {
  const auto c = read_config<VitConfig>(request.config);
  check_divides({"hidden_size", c.encoder.hidden_size}, {"num_attention_heads", c.encoder.num_attention_heads});
  check_patches({"image_size", c.image_size}, {"patch_size", c.patch_size});
  auto model = std::make_unique<Model>();
  Module& root = model->root;
  root.dtype = request.dtype;
  add_vit(root.add("vit"), c);
  add_linear(root, "classifier", c.encoder.hidden_size, count_labels(request.config), true);
  model->batch_sizes = [c](const Data& data) {
    check_no_text(data);
    check_one_image(data);
    check_image_size(data, c.image_size);
    return image_batch(data, c.num_channels, c.image_size);
  };
  model->forward = [&root, c, context = request.context](const Batch& batch) {
    const InModule scope(batch.pixel_values.run(), root);
    const Tensor sequence_output = vit_model(root["vit"], c, context, batch.pixel_values);
    return classified(root["classifier"](select(sequence_output, 1, 0)), batch);
  };
  return model;
}

}  // namespace tidemark
