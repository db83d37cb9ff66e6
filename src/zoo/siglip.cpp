// transformers: models/siglip/{configuration,modeling}_siglip.py (5.17.0)
#include "nn/multihead_attention.h"
#include "zoo/index.h"
#include "zoo/towers.h"

namespace tidemark {
namespace {

TowerConfig usual_tower() {
  TowerConfig c;
  c.patch_size = 16, c.vocab_size = 32000, c.max_position_embeddings = 64;
  c.hidden_act = "gelu_pytorch_tanh";
  return c;
}

void add_layer(Module& layer, const Encoder& e) {
  add_layer_norm(layer, "layer_norm1", e.hidden_size);
  add_encoder_attention(layer, e);
  add_layer_norm(layer, "layer_norm2", e.hidden_size);
  add_encoder_mlp(layer, e);
}

void add_vision(Module& m, const TowerConfig& c) {
  add_vision_embeddings(m, c, false);
  add_layers<Encoder>(m.add("encoder"), "layers", c.num_hidden_layers, add_layer, c);
  add_layer_norm(m, "post_layernorm", c.hidden_size);
  if (!c.vision_use_head) return;
  Module& head = m.add("head").parameter("probe", {1, 1, c.hidden_size});
  add_multihead_attention(head, "attention", c.hidden_size);
  add_layer_norm(head, "layernorm", c.hidden_size);
  add_encoder_mlp(head, c);
}

/// SiglipMultiheadAttentionPoolingHead.forward
Tensor pooling_head(Module& m, const TowerConfig& c, Tensor input) {
  Tensor hidden_state = std::move(input);
  const InModule scope(hidden_state.run(), m);
  const Tensor probe = repeat_rows(m("probe"), hidden_state.size(0));
  hidden_state = multihead_attention(m["attention"], probe, hidden_state, c.num_attention_heads);
  const Tensor residual = hidden_state;
  hidden_state = m["layernorm"](hidden_state);
  hidden_state = add(residual, encoder_mlp(m["mlp"], hidden_state));
  return select(hidden_state, 1, 0);
}

VisionOutputs vision_model(Module& m, const TowerConfig& c, const Context& context, Tensor pixels, bool all) {
  Tensor pixel_values = std::move(pixels);
  const Call call(m, pixel_values);
  const Tensor hidden_states = vision_embeddings(m["embeddings"], pixel_values);
  VisionOutputs outputs;
  outputs.last_hidden_state =
      encoder(m["encoder"], c, context, hidden_states, {}, all ? &outputs.hidden_states : nullptr);
  outputs.last_hidden_state = m["post_layernorm"](outputs.last_hidden_state);
  if (c.vision_use_head) outputs.pooler_output = pooling_head(m["head"], c, outputs.last_hidden_state);
  call.returns(outputs.tensors());
  return outputs;
}

VisionOutputs text_model(Module& m, const TowerConfig& c, const Context& context, const Batch& batch) {
  const InModule scope(batch.input_ids.run(), m);
  const Tensor hidden_states = caption_embeddings(m["embeddings"], batch.input_ids);
  const Tensor attention_mask = create_bidirectional_mask(context, hidden_states, batch.attention_mask);
  VisionOutputs outputs;
  outputs.last_hidden_state = encoder(m["encoder"], c, context, hidden_states, attention_mask);
  outputs.last_hidden_state = m["final_layer_norm"](outputs.last_hidden_state);
  outputs.pooler_output = m["head"](select(outputs.last_hidden_state, 1, -1));
  return outputs;
}

/// The sigmoid loss of every pair.
Tensor sigmoid_loss(const Tensor& logits_per_text) {
  Run& run = logits_per_text.run();
  const std::int64_t n = logits_per_text.size(0);
  const Tensor eye = zeros(run, {n, n}, Dtype::f32);
  Tensor minus = neg(zeros(run, logits_per_text.sizes(), logits_per_text.dtype()));
  Tensor twice = mul_scalar(eye);
  const Tensor m1_diag1 = add(std::move(minus), std::move(twice));
  const Tensor loglik = log_sigmoid(mul(m1_diag1, logits_per_text));
  const Tensor nll = neg(sum(loglik, {-1}, false));
  return mean(nll, 0, false);
}

/// SiglipModel.forward with return_loss
ModelOutputs siglip_model(Module& m, const TowerConfig& text, const VisionTower& tower, const Context& context,
                          const Batch& batch) {
  const InModule scope(batch.input_ids.run(), m);
  const VisionOutputs vision_outputs = tower.forward(m["vision_model"], context, batch.pixel_values, false);
  const VisionOutputs text_outputs = text_model(m["text_model"], text, context, batch);
  Likeness like = likeness(m, vision_outputs, text_outputs, vector_norm);
  like.logits_per_text = add(like.logits_per_text, m("logit_bias"));
  return two_towers_outputs(sigmoid_loss(like.logits_per_text), like, vision_outputs, text_outputs);
}

}  // namespace

VisionTower siglip_vision_tower(const Value& config) {
  return vision_tower(read_vision_tower(config, usual_tower(), "vision_config"), 0, add_vision, vision_model);
}

std::unique_ptr<Model> make_siglip(const ModelRequest& request) {
  const auto c = read_config<TwoTowersConfig>(request.config);
  std::unique_ptr<Model> model = new_model(request);
  Module& root = model->root;
  const VisionTower tower = siglip_vision_tower(c.vision());
  const TowerConfig text = read_text_tower(c.text(), usual_tower(), "text_config");
  check_pairs(text, tower);
  root.parameter("logit_scale", {1}).parameter("logit_bias", {1});
  Module& captions = root.add("text_model");
  add_caption_embeddings(captions, text);
  add_layers<Encoder>(captions.add("encoder"), "layers", text.num_hidden_layers, add_layer, text);
  add_layer_norm(captions, "final_layer_norm", text.hidden_size);
  add_linear(captions, "head", text.hidden_size, text.projection_size.value_or(text.hidden_size), true);
  tower.add(root.add("vision_model"));
  model->batch_sizes = [text, tower](const Data& data) { return caption_batch(data, text, tower); };
  model->forward = [&root, text, tower, context = request.context](const Batch& batch) {
    return siglip_model(root, text, tower, context, batch);
  };
  return model;
}

}  // namespace tidemark
