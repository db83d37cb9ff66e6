// transformers: models/qwen2_vl/configuration_qwen2_vl.py (5.17.0)
#pragma once
#include "zoo/hf_config.h"
#include "zoo/qwen2_vl_vision.h"

namespace tidemark {

struct Qwen2VlTextConfig {
  std::int64_t vocab_size = 152064, hidden_size = 8192, intermediate_size = 29568, num_hidden_layers = 80;
  std::int64_t num_attention_heads = 64;
  std::optional<std::int64_t> num_key_value_heads = 8;
  std::optional<std::vector<std::string>> layer_types;
  std::string hidden_act = "silu";
  std::optional<bool> use_sliding_window;
  bool tie_word_embeddings = false;
  double attention_dropout = 0;
  Value rope_parameters, rope_scaling;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit("vocab_size", c.vocab_size, kSize);
    visit("hidden_size", c.hidden_size, kSize);
    visit("intermediate_size", c.intermediate_size, kSize);
    visit("num_hidden_layers", c.num_hidden_layers, kLayers);
    visit("num_attention_heads", c.num_attention_heads, kSize);
    visit("num_key_value_heads", c.num_key_value_heads, kSize);
    visit("layer_types", c.layer_types, kAny);
    visit("hidden_act", c.hidden_act, kAny);
    visit("use_sliding_window", c.use_sliding_window, kAny);
    visit("tie_word_embeddings", c.tie_word_embeddings, kAny);
    visit("attention_dropout", c.attention_dropout, kProbability);
    visit("rope_parameters", c.rope_parameters, kAny);
    visit("rope_scaling", c.rope_scaling, kAny);
  }
  static KeyNames harmless() {
    return {"max_position_embeddings", "rms_norm_eps", "rope_theta", "sliding_window", "max_window_layers",
            "image_token_id", "video_token_id", "vision_token_id", "vision_start_token_id", "vision_end_token_id"};
  }

  Decoder decoder() const {
    return {.vocab_size = vocab_size,
            .hidden_size = hidden_size,
            .intermediate_size = intermediate_size,
            .num_hidden_layers = num_hidden_layers,
            .num_attention_heads = num_attention_heads,
            .num_key_value_heads = num_key_value_heads.value_or(num_attention_heads),
            .head_dim = hidden_size / num_attention_heads,
            .qkv_bias = true,
            .projects_first = true,
            .hidden_act = hidden_act,
            .attention_dropout = attention_dropout};
  }
};

/// Files on the hub hold the text model's keys beside `vision_config`.
struct Qwen2VlConfig : Qwen2VlTextConfig {
  Value text_config;
  Qwen2VlVisionConfig vision_config;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    Qwen2VlTextConfig::fields(c, visit);
    visit("text_config", c.text_config, kAny);
    visit("vision_config", c.vision_config, kAny);
  }
};

}  // namespace tidemark
