// transformers: models/{clip,siglip}/modeling_*.py, VisionEmbeddings and TextEmbeddings (5.17.0)
#include "zoo/towers.h"

#include <fmt/format.h>

#include "base/error.h"
#include "zoo/causal_lm.h"
#include "zoo/images.h"

namespace tidemark {
namespace {

template <class Half>
TowerConfig read_half(const Value& config, const TowerConfig& usual, const std::string& part) {
  Half c;
  static_cast<TowerConfig&>(c) = usual;
  read_fields(config, c, {"config.json", part}, harmless_config_keys());
  check_divides({"hidden_size", c.hidden_size}, {"num_attention_heads", c.num_attention_heads});
  return c;
}

}  // namespace

TowerConfig read_vision_tower(const Value& config, const TowerConfig& usual, const std::string& part) {
  TowerConfig c = read_half<VisionTowerConfig>(config, usual, part);
  check_patches({"image_size", c.image_size}, {"patch_size", c.patch_size});
  return c;
}

TowerConfig read_text_tower(const Value& config, const TowerConfig& usual, const std::string& part) {
  return read_half<TextTowerConfig>(config, usual, part);
}

void add_vision_embeddings(Module& model, const TowerConfig& c, bool class_token) {
  Module& m = model.add("embeddings");
  if (class_token) m.parameter("class_embedding", {c.hidden_size});
  add_patch_convolution(m, "patch_embedding", c.num_channels, c.hidden_size, {c.patch_size, c.patch_size},
                        !class_token);
  const std::int64_t side = c.image_size / c.patch_size, positions = side * side + (class_token ? 1 : 0);
  add_embedding(m, "position_embedding", positions, c.hidden_size);
  m.buffer("position_ids", {1, positions}, Dtype::int64);
}

Tensor vision_embeddings(Module& m, Tensor pixels) {
  Tensor pixel_values = std::move(pixels);
  const Call call(m, pixel_values);
  const std::int64_t b = pixel_values.size(0), d = m["patch_embedding"]("weight").size(0);
  Tensor patch_embeds = m["patch_embedding"](to(pixel_values, m.dtype));
  patch_embeds = transpose(view(std::move(patch_embeds), {b, d, -1}), 1, 2);
  Tensor embeddings = patch_embeds;
  if (m.has_parameter("class_embedding")) {
    const Tensor class_embeds = expand(m("class_embedding"), {b, 1, -1});
    embeddings = cat({class_embeds, patch_embeds}, 1);
  }
  embeddings = add(embeddings, m["position_embedding"](m("position_ids")));
  return call.returns(embeddings);
}

void add_caption_embeddings(Module& model, const TowerConfig& c) {
  Module& m = model.add("embeddings");
  add_embedding(m, "token_embedding", c.vocab_size, c.hidden_size);
  add_embedding(m, "position_embedding", c.max_position_embeddings, c.hidden_size);
  m.buffer("position_ids", {1, c.max_position_embeddings}, Dtype::int64);
}

Tensor caption_embeddings(Module& m, Tensor ids) {
  const Tensor input_ids = std::move(ids);
  const Call call(input_ids.run(), m);
  const Tensor position_ids = slice(m("position_ids"), 1, 0, input_ids.size(1));
  const Tensor inputs_embeds = m["token_embedding"](input_ids);
  return call.returns(add(inputs_embeds, m["position_embedding"](position_ids)));
}

VisionTower vision_tower(const TowerConfig& c, std::int64_t class_tokens,
                         void (*add)(Module& m, const TowerConfig& config),
                         VisionOutputs (*forward)(Module& m, const TowerConfig& config, const Context& context,
                                                  Tensor pixel_values, bool output_hidden_states)) {
  return {.hidden_size = c.hidden_size,
          .image_size = c.image_size,
          .patch_size = c.patch_size,
          .num_channels = c.num_channels,
          .class_tokens = class_tokens,
          .num_hidden_layers = c.num_hidden_layers,
          .has_pooler = c.vision_use_head,
          .add = [c, add](Module& m) { add(m, c); },
          .forward = [c, forward](Module& m, const Context& context, Tensor pixel_values,
                                  bool all) { return forward(m, c, context, std::move(pixel_values), all); }};
}

Likeness likeness(Module& m, const VisionOutputs& image, const VisionOutputs& text, Tensor (*norm)(Tensor x)) {
  Tensor image_embeds = image.pooler_output, text_embeds = text.pooler_output;
  image_embeds = div(image_embeds, norm(image_embeds));
  text_embeds = div(text_embeds, norm(text_embeds));
  Tensor logits_per_text = matmul(text_embeds, transpose(image_embeds, 0, 1));
  logits_per_text = mul(logits_per_text, exp(m("logit_scale")));
  return {std::move(image_embeds), std::move(text_embeds), std::move(logits_per_text)};
}

ModelOutputs two_towers_outputs(Tensor loss, const Likeness& like, const VisionOutputs& image,
                                const VisionOutputs& text) {
  return {std::move(loss),
          {like.logits_per_text, like.text_embeds, like.image_embeds, text.last_hidden_state, text.pooler_output,
           image.last_hidden_state, image.pooler_output},
          {}};
}

void check_pairs(const TowerConfig& text, const VisionTower& vision) {
  refuse(!vision.has_pooler, "vision_config.vision_use_head", "false, without which images have no embedding,");
  const std::int64_t width = text.projection_size.value_or(text.hidden_size);
  if (width != vision.hidden_size)
    throw Error(Errc::bad_value, fmt::format("captions become {} numbers, and images {}", width, vision.hidden_size),
                "config.json: text_config.projection_size", fmt::format("{} would do", vision.hidden_size));
}

BatchSizes caption_batch(const Data& data, const TowerConfig& text, const VisionTower& vision) {
  Data captions = data;
  captions.labels = false;
  check_one_image(data);
  check_image_size(data, vision.image_size);
  BatchSizes sizes = text_batch(captions, text.max_position_embeddings);
  check_length(sizes, {"text_config.max_position_embeddings", text.max_position_embeddings});
  sizes.pixel_values = image_sizes(data.batch, vision.num_channels, vision.image_size);
  return sizes;
}

}  // namespace tidemark
