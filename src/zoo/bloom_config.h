// transformers: models/bloom/configuration_bloom.py (5.17.0)
#pragma once
#include "zoo/text_config.h"

namespace tidemark {

struct BloomConfig : TextConfig {
  static constexpr TextConfigNames kNames{
      .num_hidden_layers = "n_layer", .num_attention_heads = "n_head", .max_position_embeddings = "seq_length"};
  double hidden_dropout = 0, attention_dropout = 0;
  bool apply_residual_connection_post_layernorm = false, slow_but_exact = false;
  std::int64_t pretraining_tp = 1;

  BloomConfig() {
    vocab_size = 250880, hidden_size = 64, num_hidden_layers = 2, num_attention_heads = 8, tie_word_embeddings = true;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    TextConfig::fields(c, visit);
    visit("n_embed", c.hidden_size, kSize);  // of older files
    visit("pretraining_tp", c.pretraining_tp, kSize);
    visit_all(visit, kProbability, "hidden_dropout", c.hidden_dropout, "attention_dropout", c.attention_dropout);
    visit_all(visit, kAny, "apply_residual_connection_post_layernorm", c.apply_residual_connection_post_layernorm,
              "slow_but_exact", c.slow_but_exact);
  }
  /// Megatron's own keys are not read by transformers.
  static KeyNames harmless() { return {"layer_norm_epsilon"}; }
};

}  // namespace tidemark
