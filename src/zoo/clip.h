// What CLIP and the families after it have in common: the halves' configurations and embeddings.
#pragma once
#include "zoo/checks.h"
#include "zoo/hf_config.h"
#include "zoo/model.h"

namespace tidemark {

/// CLIPVisionConfig, CLIPTextConfig, and SigLIP's; each family starts from its own defaults.
struct TowerConfig {
  std::int64_t hidden_size = 768, intermediate_size = 3072, num_hidden_layers = 12, num_attention_heads = 12;
  std::int64_t num_channels = 3, image_size = 224, patch_size = 32;
  std::int64_t vocab_size = 49408, max_position_embeddings = 77, eos_token_id = 49407;
  std::optional<std::int64_t> projection_size;
  std::string hidden_act = "quick_gelu";
  double attention_dropout = 0;
  bool vision_use_head = true;

  // Of both halves.
  template <class Self, class Visit>
  static void visit_fields(Self& c, Visit&& visit) {
    visit("hidden_size", c.hidden_size, kSize);
    visit("intermediate_size", c.intermediate_size, kSize);
    visit("num_hidden_layers", c.num_hidden_layers, kLayers);
    visit("num_attention_heads", c.num_attention_heads, kSize);
    visit("hidden_act", c.hidden_act, kAny);
    visit("attention_dropout", c.attention_dropout, kProbability);
  }

  Encoder encoder() const {
    return {.hidden_size = hidden_size, .intermediate_size = intermediate_size, .num_hidden_layers = num_hidden_layers,
            .num_attention_heads = num_attention_heads, .hidden_act = hidden_act, .attention_dropout = attention_dropout};
  }
};

/// The vision half alone, or the text half: a key of the other is a mistake.
struct VisionTowerConfig : TowerConfig {
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit_fields(c, visit);
    visit("num_channels", c.num_channels, kSize);
    visit("image_size", c.image_size, kSize);
    visit("patch_size", c.patch_size, kSize);
    visit("vision_use_head", c.vision_use_head, kAny);
  }
  // llava-hf/llava-1.5-7b-hf names a vocabulary here, which CLIPVisionConfig passes over.
  static KeyNames harmless() { return {"layer_norm_eps", "projection_dim", "dropout", "vocab_size"}; }
};

struct TextTowerConfig : TowerConfig {
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit_fields(c, visit);
    visit("vocab_size", c.vocab_size, kSize);
    visit("max_position_embeddings", c.max_position_embeddings, kSize);
    visit("eos_token_id", c.eos_token_id, kAny);
    visit("projection_size", c.projection_size, kSize);
  }
  static KeyNames harmless() { return {"layer_norm_eps", "projection_dim", "dropout"}; }
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

/// Token ids and masks of captions and one image for each.
BatchSizes caption_batch(const Data& data, const TowerConfig& text, const VisionTower& vision);

}  // namespace tidemark
