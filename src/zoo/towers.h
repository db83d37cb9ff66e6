// What CLIP and the families after it have in common: the halves' configurations and embeddings.
#pragma once
#include "zoo/causal_lm.h"
#include "zoo/hf_config.h"

namespace tidemark {

/// CLIPConfig and SiglipConfig
struct TwoTowersConfig {
  Value text_config = Value::Map(), vision_config = Value::Map();
  Value text_config_dict, vision_config_dict;  // of older files: they win over the two above
  std::int64_t projection_dim = 512;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit_all(visit, kAny, "text_config", c.text_config, "vision_config", c.vision_config, "text_config_dict",
              c.text_config_dict, "vision_config_dict", c.vision_config_dict);
    visit("projection_dim", c.projection_dim, kSize);
  }
  static KeyNames harmless() { return {"logit_scale_init_value"}; }
  const Value& text() const { return text_config_dict.is_null() ? text_config : text_config_dict; }
  const Value& vision() const { return vision_config_dict.is_null() ? vision_config : vision_config_dict; }
};

/// CLIPVisionConfig, CLIPTextConfig, and SigLIP's; each family starts from its own defaults.
struct TowerConfig : Encoder {
  std::int64_t num_channels = 3, image_size = 224, patch_size = 32;
  std::int64_t vocab_size = 49408, max_position_embeddings = 77, eos_token_id = 49407;
  std::optional<std::int64_t> projection_size;
  bool vision_use_head = true;

  // Of both halves.
  template <class Self, class Visit>
  static void visit_fields(Self& c, Visit&& visit) {
    visit_all(visit, kSize, "hidden_size", c.hidden_size, "intermediate_size", c.intermediate_size,
              "num_attention_heads", c.num_attention_heads);
    visit("num_hidden_layers", c.num_hidden_layers, kLayers);
    visit("attention_dropout", c.attention_dropout, kProbability);
    visit("hidden_act", c.hidden_act, kAny);
  }
};

/// The vision half alone, or the text half: a key of the other is a mistake.
struct VisionTowerConfig : TowerConfig {
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit_fields(c, visit);
    visit_all(visit, kSize, "num_channels", c.num_channels, "image_size", c.image_size, "patch_size", c.patch_size);
    visit("vision_use_head", c.vision_use_head, kAny);
  }
  static KeyNames harmless() { return {"layer_norm_eps", "projection_dim"}; }
};

struct TextTowerConfig : TowerConfig {
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit_fields(c, visit);
    visit_all(visit, kSize, "vocab_size", c.vocab_size, "max_position_embeddings", c.max_position_embeddings,
              "projection_size", c.projection_size);
    visit("eos_token_id", c.eos_token_id, kAny);
  }
  static KeyNames harmless() { return {"layer_norm_eps", "projection_dim"}; }
};

/// Reads `config`, which stands under `part` of config.json, on top of the family's own values; both are checked.
TowerConfig read_vision_tower(const Value& config, const TowerConfig& usual, const std::string& part);
TowerConfig read_text_tower(const Value& config, const TowerConfig& usual, const std::string& part);

/// {CLIP,Siglip}VisionEmbeddings: patches, with a class token in front or without, and their positions.
void add_vision_embeddings(Module& model, const TowerConfig& config, bool class_token);
Tensor vision_embeddings(Module& m, Tensor pixel_values);
/// {CLIP,Siglip}TextEmbeddings
void add_caption_embeddings(Module& model, const TowerConfig& config);
Tensor caption_embeddings(Module& m, Tensor input_ids);

/// A tower as a part, whose modules `add` makes and `forward` runs.
VisionTower vision_tower(const TowerConfig& config, std::int64_t class_tokens,
                         void (*add)(Module& m, const TowerConfig& config),
                         VisionOutputs (*forward)(Module& m, const TowerConfig& config, const Context& context,
                                                  Tensor pixel_values, bool output_hidden_states));

/// Embeddings of captions and images, both of length one, and how much each caption is like each image.
struct Likeness {
  Tensor image_embeds, text_embeds, logits_per_text;
};
/// `norm` is the length of each row.
Likeness likeness(Module& m, const VisionOutputs& image, const VisionOutputs& text, Tensor (*norm)(Tensor x));
ModelOutputs two_towers_outputs(Tensor loss, const Likeness& like, const VisionOutputs& image,
                                const VisionOutputs& text);

/// Throws where captions and images do not meet in one space.
void check_pairs(const TowerConfig& text, const VisionTower& vision);

/// Token ids and masks of captions and one image for each.
BatchSizes caption_batch(const Data& data, const TowerConfig& text, const VisionTower& vision);

}  // namespace tidemark
