#include "zoo/text_config.h"

namespace tidemark {

Decoder DecoderConfig::decoder() const {
  const std::int64_t head = head_dim.value_or(head_size());
  return {.vocab_size = vocab_size,
          .hidden_size = hidden_size,
          .intermediate_size = intermediate_size,
          .num_hidden_layers = num_hidden_layers,
          .num_attention_heads = num_attention_heads,
          .num_key_value_heads = num_key_value_heads.value_or(num_attention_heads),
          .head_dim = head,
          .hidden_act = hidden_act,
          .tie_word_embeddings = tie_word_embeddings,
          .pad_token_id = pad_token_id,
          .attention_dropout = attention_dropout,
          .rotary_dim = rope.rotary_dim(head),
          .rope = rope.update(head, max_position_embeddings),
          .is_causal = is_causal};
}

}  // namespace tidemark
