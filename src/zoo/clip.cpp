// transformers: models/clip/{configuration,modeling}_clip.py (5.17.0)
#include "zoo/clip.h"

#include "zoo/hf_config.h"
#include "zoo/index.h"

namespace tidemark {
namespace {

struct ClipConfig {
  Value text_config = Value::Map(), vision_config = Value::Map();
  std::int64_t projection_dim = 512;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit("text_config", c.text_config, kAny);
    visit("vision_config", c.vision_config, kAny);
    visit("projection_dim", c.projection_dim, kSize);
  }
  static KeyNames harmless() { return {"logit_scale_init_value"}; }
};

void add_layers(Module& m, const Encoder& e) {
  Module& layers = m.add("encoder").add("layers");
  for (std::int64_t i = 0; i < e.num_hidden_layers; ++i) {
    Module& layer = layers.add(std::to_string(i));
    add_encoder_attention(layer, e);
    add_layer_norm(layer, "layer_norm1", e.hidden_size);
    add_encoder_mlp(layer, e);
    add_layer_norm(layer, "layer_norm2", e.hidden_size);
  }
}

Encoder encoder_of(const TowerConfig& c) {
  Encoder e = c.encoder();
  e.projects_first = true;
  return e;
}

/// CLIPVisionModel.forward
VisionOutputs vision_model(Module& m, const TowerConfig& c, const Context& context, Tensor pixels, bool all) {
  const Tensor pixel_values = std::move(pixels);
  const InModule scope(pixel_values.run(), m);
  Tensor hidden_states = vision_embeddings(m["embeddings"], pixel_values);
  hidden_states = m["pre_layrnorm"](hidden_states);
  VisionOutputs outputs;
  outputs.last_hidden_state = encoder(m["encoder"]["layers"], encoder_of(c), context, hidden_states, {},
                                      all ? &outputs.hidden_states : nullptr);
  outputs.pooler_output = m["post_layernorm"](select(outputs.last_hidden_state, 1, 0));
  return outputs;
}

/// `(input_ids.to(int) == eos_token_id).int().argmax(-1)`; without the comparison for the old id 2.
Tensor end_of_text(const Tensor& input_ids, std::int64_t eos_token_id) {
  Tensor ids = to(input_ids, Dtype::int32);
  if (eos_token_id == 2) return argmax(std::move(ids));
  Tensor found = compare("aten::eq", std::move(ids));
  found = to(std::move(found), Dtype::int32);
  return argmax(std::move(found));
}

/// CLIPTextModel.forward
VisionOutputs text_model(Module& m, const TowerConfig& c, const Context& context, const Batch& batch) {
  Run& run = batch.input_ids.run();
  const InModule scope(run, m);
  const Tensor hidden_states = caption_embeddings(m["embeddings"], batch.input_ids);
  Encoder e = encoder_of(c);
  e.causal = true;
  const Tensor attention_mask = create_causal_mask(context, hidden_states, batch.attention_mask);
  VisionOutputs outputs;
  outputs.last_hidden_state = encoder(m["encoder"]["layers"], e, context, hidden_states, attention_mask);
  outputs.last_hidden_state = m["final_layer_norm"](outputs.last_hidden_state);
  const Tensor rows = arange(run, outputs.last_hidden_state.size(0));
  outputs.pooler_output = index_pairs(outputs.last_hidden_state, rows, end_of_text(batch.input_ids, c.eos_token_id));
  return outputs;
}

Tensor get_vector_norm(Tensor x) {
  const Tensor tensor = std::move(x);
  const Tensor square_tensor = pow2(tensor);
  const Tensor sum_tensor = sum(square_tensor, {-1}, true);
  return pow2(sum_tensor);  // pow(…, 0.5)
}

Tensor contrastive_loss(Tensor x) {
  const Tensor logits = std::move(x);
  return cross_entropy(logits, arange(logits.run(), logits.size(0)));
}

/// CLIPModel.forward with return_loss
ModelOutputs clip_model(Module& m, const TowerConfig& text, const VisionTower& tower, const Context& context,
                        const Context& vision_context, const Batch& batch) {
  const InModule scope(batch.input_ids.run(), m);
  VisionOutputs vision_outputs = tower.forward(m["vision_model"], vision_context, batch.pixel_values, false);
  vision_outputs.pooler_output = m["visual_projection"](vision_outputs.pooler_output);
  VisionOutputs text_outputs = text_model(m["text_model"], text, context, batch);
  text_outputs.pooler_output = m["text_projection"](text_outputs.pooler_output);
  Tensor image_embeds = vision_outputs.pooler_output, text_embeds = text_outputs.pooler_output;
  image_embeds = div(image_embeds, get_vector_norm(image_embeds));
  text_embeds = div(text_embeds, get_vector_norm(text_embeds));
  Tensor logits_per_text = matmul(text_embeds, transpose(image_embeds, 0, 1));
  logits_per_text = mul(logits_per_text, exp(m("logit_scale")));
  ModelOutputs outputs;
  const Tensor caption_loss = contrastive_loss(logits_per_text);
  const Tensor image_loss = contrastive_loss(transpose(logits_per_text, 0, 1));
  outputs.loss = div_scalar(add(caption_loss, image_loss));
  outputs.held = {logits_per_text, text_embeds, image_embeds, text_outputs.last_hidden_state, text_outputs.pooler_output,
                  vision_outputs.last_hidden_state, vision_outputs.pooler_output};
  return outputs;
}

}  // namespace

std::unique_ptr<Model> make_clip(const ModelRequest& request) {
  const auto c = read_config<ClipConfig>(request.config);
  auto model = std::make_unique<Model>();
  Module& root = model->root;
  root.dtype = request.dtype;
  const VisionTower tower = clip_vision_tower(c.vision_config);
  TowerConfig text;
  text.hidden_size = 512;
  text.intermediate_size = 2048;
  text.num_attention_heads = 8;
  text = read_text_tower(c.text_config, text, "text_config");
  root.parameter("logit_scale", {});
  Module& text_model_module = root.add("text_model");
  add_caption_embeddings(text_model_module, text);
  add_layers(text_model_module, text.encoder());
  add_layer_norm(text_model_module, "final_layer_norm", text.hidden_size);
  tower.add(root.add("vision_model"));
  add_linear(root, "visual_projection", tower.hidden_size, c.projection_dim, false);
  add_linear(root, "text_projection", text.hidden_size, c.projection_dim, false);
  model->batch_sizes = [text, tower](const Data& data) { return caption_batch(data, text, tower); };
  const Context vision_context = behind(request.context, root["text_model"]);
  model->forward = [&root, text, tower, context = request.context, vision_context](const Batch& batch) {
    return clip_model(root, text, tower, context, vision_context, batch);
  };
  return model;
}

VisionTower clip_vision_tower(const Value& config) {
  const TowerConfig c = read_vision_tower(config, {}, "vision_config");
  return {.hidden_size = c.hidden_size, .image_size = c.image_size, .patch_size = c.patch_size,
          .num_channels = c.num_channels, .class_tokens = 1, .num_hidden_layers = c.num_hidden_layers,
          .add = [c](Module& m) {
            add_vision_embeddings(m, c, true);
            add_layer_norm(m, "pre_layrnorm", c.hidden_size);
            add_layers(m, c.encoder());
            add_layer_norm(m, "post_layernorm", c.hidden_size);
          },
          .forward = [c](Module& m, const Context& context, Tensor pixel_values, bool all) {
            return vision_model(m, c, context, std::move(pixel_values), all);
          }};
}

}  // namespace tidemark
