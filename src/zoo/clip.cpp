// transformers: models/clip/{configuration,modeling}_clip.py (5.17.0)
#include "zoo/clip.h"

#include "zoo/hf_config.h"
#include "zoo/index.h"

namespace tidemark {
namespace {

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

}  // namespace

VisionTower clip_vision_tower(const Value& config) {
  const auto c = read_config<TowerConfig>(config);
  return {.hidden_size = c.hidden_size, .image_size = c.image_size, .patch_size = c.patch_size,
          .num_channels = c.num_channels, .class_tokens = 1,
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
