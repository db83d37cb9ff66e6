// What the configs of nearly all text models have.  A family's config begins with one of these, made with the family's
// own defaults, and adds what is its own.
#pragma once
#include <type_traits>

#include "nn/decoder.h"
#include "zoo/hf_config.h"

namespace tidemark {

struct TextConfig {
  std::int64_t vocab_size = 0, hidden_size = 0, num_hidden_layers = 0, num_attention_heads = 0;
  std::int64_t max_position_embeddings = 2048;
  std::string hidden_act = "silu";
  bool tie_word_embeddings = false;
  std::optional<std::int64_t> pad_token_id = {};

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit_all(visit, kSize, "vocab_size", c.vocab_size, "hidden_size", c.hidden_size, "num_attention_heads",
              c.num_attention_heads, "max_position_embeddings", c.max_position_embeddings);
    visit("num_hidden_layers", c.num_hidden_layers, kLayers);
    visit_all(visit, kAny, "hidden_act", c.hidden_act, "tie_word_embeddings", c.tie_word_embeddings, "pad_token_id",
              c.pad_token_id);
  }
  /// Of a head.
  std::int64_t head_size() const { return hidden_size / num_attention_heads; }
};

/// Of decoders like Llama's.
struct DecoderConfig : TextConfig {
  std::int64_t intermediate_size = 0;
  std::optional<std::int64_t> num_key_value_heads = {}, head_dim = {};
  double attention_dropout = 0;
  bool is_causal = true;
  RopeConfig rope = {};

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    TextConfig::fields(c, visit);
    visit_all(visit, kSize, "intermediate_size", c.intermediate_size, "num_key_value_heads", c.num_key_value_heads,
              "head_dim", c.head_dim);
    visit("attention_dropout", c.attention_dropout, kProbability);
    visit("is_causal", c.is_causal, kAny);
    RopeConfig::visit_fields(c.rope, visit);
  }
  static KeyNames harmless() { return {"rms_norm_eps", "rope_theta"}; }
  /// The fields of a decoder that are these.
  Decoder decoder() const;
};

}  // namespace tidemark
