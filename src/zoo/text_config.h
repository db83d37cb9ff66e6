// What the configs of nearly all text models have.  A family's config begins with one of these, made with the family's
// own defaults, and adds what is its own.
#pragma once
#include <type_traits>

#include "nn/decoder.h"
#include "zoo/hf_config.h"

namespace tidemark {

/// What a family calls the fields of TextConfig: its kNames.
struct TextConfigNames {
  std::string_view hidden_size = "hidden_size";
  std::string_view num_hidden_layers = "num_hidden_layers", num_attention_heads = "num_attention_heads";
  std::string_view max_position_embeddings = "max_position_embeddings", hidden_act = "hidden_act";
};

struct TextConfig {
  static constexpr TextConfigNames kNames = {};
  std::int64_t vocab_size = 0, hidden_size = 0, num_hidden_layers = 0, num_attention_heads = 0;
  std::int64_t max_position_embeddings = 2048;
  std::string hidden_act = "silu";
  bool tie_word_embeddings = false;
  std::optional<std::int64_t> pad_token_id = {};

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    constexpr TextConfigNames names = std::remove_const_t<Self>::kNames;
    visit_all(visit, kSize, "vocab_size", c.vocab_size, names.hidden_size, c.hidden_size, names.num_attention_heads,
              c.num_attention_heads, names.max_position_embeddings, c.max_position_embeddings);
    visit(names.num_hidden_layers, c.num_hidden_layers, kLayers);
    constexpr TextConfigNames usual;  // transformers: attribute_map: what a family calls otherwise has these names, too
    if (names.hidden_size != usual.hidden_size) visit(usual.hidden_size, c.hidden_size, kSize);
    if (names.num_hidden_layers != usual.num_hidden_layers)
      visit(usual.num_hidden_layers, c.num_hidden_layers, kLayers);
    if (names.num_attention_heads != usual.num_attention_heads)
      visit(usual.num_attention_heads, c.num_attention_heads, kSize);
    if (names.max_position_embeddings != usual.max_position_embeddings)
      visit(usual.max_position_embeddings, c.max_position_embeddings, kSize);
    visit_all(visit, kAny, names.hidden_act, c.hidden_act, "tie_word_embeddings", c.tie_word_embeddings, "pad_token_id",
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
