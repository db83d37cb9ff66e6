// What decoder models share: rotary positions, the key-value cache, masks, and the two ways to attend.
#pragma once
#include <utility>

#include "nn/context.h"
#include "nn/module.h"

namespace tidemark {

/// Cosine and sine by position.
struct Rotary {
  Tensor cos, sin;
};

/// LlamaRotaryEmbedding: two buffers of half a head.
Module& add_rotary(Module& parent, std::string_view name, std::int64_t head_dim);
/// position_ids (1, S) -> (1, S, D) in the type of `like`.
Rotary rotary_embedding(Module& m, const Tensor& like, Tensor position_ids);
Tensor rotate_half(Tensor x);
/// x (B, H, S, D); unsqueezes the positions at dimension 1.
std::pair<Tensor, Tensor> apply_rotary_pos_emb(Tensor q, Tensor k, const Rotary& rotary);

/// transformers: cache_utils.DynamicCache.  Empty when caching is off.
struct DynamicCache {
  using KeyValue = std::pair<Tensor, Tensor>;
  bool enabled = false;
  std::vector<KeyValue> layers;
  /// Appends to the layer and shows the whole.
  KeyValue update(Tensor key, Tensor value, std::size_t layer);
};

/// ALL_ATTENTION_FUNCTIONS[...]: q (B, H, S, D), k and v (B, K, S, D) -> (B, S, H, D)
Tensor attention_interface(AttentionKind kind, Tensor query, Tensor key, Tensor value, Tensor mask, double dropout);

/// transformers: masking_utils.create_causal_mask, for a batch without padding; none for sdpa.
Tensor create_causal_mask(const Context& context, const Tensor& inputs_embeds, const Tensor& attention_mask);

/// transformers: loss.loss_utils.ForCausalLMLoss
Tensor causal_lm_loss(Tensor logits, Tensor labels);

}  // namespace tidemark
