// transformers: models/clip/{configuration,modeling}_clip.py (5.17.0)
#include "zoo/index.h"
#include "zoo/towers.h"

namespace tidemark {
namespace {

void add_layer(Module& layer, const Encoder& e) {
  add_encoder_attention(layer, e);
  add_layer_norm(layer, "layer_norm1", e.hidden_size);
  add_encoder_mlp(layer, e);
  add_layer_norm(layer, "layer_norm2", e.hidden_size);
}

/// CLIPVisionConfig and CLIPTextConfig; CLIP makes all three projections, and then their views.
TowerConfig tower_config() {
  TowerConfig c;
  c.projects_first = true, c.hidden_act = "quick_gelu";
  return c;
}

void add_vision(Module& m, const TowerConfig& c) {
  add_vision_embeddings(m, c, true);
  add_layer_norm(m, "pre_layrnorm", c.hidden_size);
  add_layers<Encoder>(m.add("encoder"), "layers", c.num_hidden_layers, add_layer, c);
  add_layer_norm(m, "post_layernorm", c.hidden_size);
}

/// CLIPVisionModel.forward
VisionOutputs vision_model(Module& m, const TowerConfig& c, const Context& context, Tensor pixels, bool all) {
  Tensor pixel_values = std::move(pixels);
  const Call call(m, pixel_values);
  Tensor hidden_states = vision_embeddings(m["embeddings"], pixel_values);
  hidden_states = m["pre_layrnorm"](hidden_states);
  VisionOutputs outputs;
  outputs.last_hidden_state =
      encoder(m["encoder"], c, context, hidden_states, {}, all ? &outputs.hidden_states : nullptr);
  outputs.pooler_output = m["post_layernorm"](select(outputs.last_hidden_state, 1, 0));
  call.returns(outputs.tensors());
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
  const Call call(batch.input_ids.run(), m);
  const Tensor hidden_states = caption_embeddings(m["embeddings"], batch.input_ids);
  const Tensor attention_mask = create_causal_mask(context, hidden_states, batch.attention_mask);
  VisionOutputs outputs;
  outputs.last_hidden_state = encoder(m["encoder"], c, context, hidden_states, attention_mask);
  outputs.last_hidden_state = m["final_layer_norm"](outputs.last_hidden_state);
  const Tensor rows = arange(hidden_states.run(), outputs.last_hidden_state.size(0));
  outputs.pooler_output = index_pairs(outputs.last_hidden_state, rows, end_of_text(batch.input_ids, c.eos_token_id));
  call.returns(outputs.tensors());
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
  const Likeness like = likeness(m, vision_outputs, text_outputs, get_vector_norm);
  const Tensor caption_loss = contrastive_loss(like.logits_per_text);
  const Tensor image_loss = contrastive_loss(transpose(like.logits_per_text, 0, 1));
  return two_towers_outputs(div_scalar(add(caption_loss, image_loss)), like, vision_outputs, text_outputs);
}

}  // namespace

std::unique_ptr<Model> make_clip(const ModelRequest& request) {
  const auto c = read_config<TwoTowersConfig>(request.config);
  std::unique_ptr<Model> model = new_model(request);
  Module& root = model->root;
  const VisionTower tower = clip_vision_tower(c.vision());
  TowerConfig text = tower_config();
  text.hidden_size = 512, text.intermediate_size = 2048, text.num_attention_heads = 8, text.causal = true;
  text = read_text_tower(c.text(), text, "text_config");
  root.parameter("logit_scale", {});
  Module& captions = root.add("text_model");
  add_caption_embeddings(captions, text);
  add_layers<Encoder>(captions.add("encoder"), "layers", text.num_hidden_layers, add_layer, text);
  add_layer_norm(captions, "final_layer_norm", text.hidden_size);
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
  return vision_tower(read_vision_tower(config, tower_config(), "vision_config"), 1, add_vision, vision_model);
}

}  // namespace tidemark
