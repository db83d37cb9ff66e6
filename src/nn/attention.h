// What decoder models share: rotary positions, the key-value cache, masks, and the two ways to attend.
#pragma once
#include <array>
#include <tuple>
#include <utility>

#include "nn/context.h"
#include "nn/experts.h"
#include "nn/masks.h"
#include "nn/module.h"
#include "nn/rope.h"

namespace tidemark {

/// Cosine and sine by position.
struct Rotary {
  Tensor cos, sin;
};

/// LlamaRotaryEmbedding: two buffers of half a head.
Module& add_rotary(Module& parent, std::string_view name, std::int64_t head_dim);
/// position_ids (1, S) -> (1, S, D) in the type of `like`.
Rotary rotary_embedding(Module& m, const Tensor& like, Tensor position_ids, const RopeUpdate& update = {});
Tensor rotate_half(Tensor x);
/// x (B, H, S, D); unsqueezes the positions at dimension 1.
std::pair<Tensor, Tensor> apply_rotary_pos_emb(Tensor q, Tensor k, const Rotary& rotary);
/// The same of the first part of each head, as wide as the positions.
std::pair<Tensor, Tensor> apply_partial_rotary_pos_emb(const Tensor& q, const Tensor& k, const Rotary& rotary);
/// 0 to S - 1 for all samples: inputs_embeds (B, S, D) -> (1, S)
Tensor text_position_ids(const Tensor& inputs_embeds);

/// transformers: cache_utils.DynamicCache.  Empty when caching is off.
struct DynamicCache {
  using KeyValue = std::pair<Tensor, Tensor>;
  bool enabled = false;
  std::vector<KeyValue> layers;
  std::vector<Tensor> windows;  // one number on the device per layer that attends to a window
  /// Appends to the layer, a DynamicSlidingWindowLayer or not, and shows the whole.
  KeyValue update(Tensor key, Tensor value, std::size_t layer, bool sliding = false);
};

/// What every layer of one forward pass is given.
template <class Config>
struct LayerInputs {
  const Config& config;
  const Context& context;
  Tensor mask = {};
  Rotary rotary = {};
  DynamicCache* cache = nullptr;
  Tensor position_ids = {};  // a keyword argument that no layer uses, and that a checkpoint holds
  std::shared_ptr<CapturedOutputs> captured = {};
};

/// x (B, K, S, D) -> (B, K * n_rep, S, D)
Tensor repeat_kv(Tensor x, std::int64_t n_rep);

/// How a model attends; what is not about `kind`, `dropout` and `is_causal` differs between families in eager
/// attention.
struct AttentionCall {
  AttentionKind kind = AttentionKind::sdpa;
  double dropout = 0;
  bool is_causal = true;
};

/// output (B, S, H, D), and the weights of eager attention: callers hold them as long as the reference's locals do.
struct Attended {
  Tensor output, weights;
};

/// ALL_ATTENTION_FUNCTIONS[...]: q (B, H, S, D), k and v (B, K, S, D)
Attended attention_interface(const AttentionCall& call, Tensor query, Tensor key, Tensor value, Tensor mask);
Tensor attention_interface(AttentionKind kind, Tensor query, Tensor key, Tensor value, Tensor mask, double dropout,
                           bool is_causal = true);
/// What self attentions have between their projections: the cache, attention, and the heads side by side again.
/// q (B, H, S, D), k and v (B, K, S, D) -> (B, S, H * D)
template <class Config>
Attended attend(AttentionCall call, const LayerInputs<Config>& inputs, std::size_t layer, const Tensor& query_states,
                Tensor& key_states, Tensor& value_states, bool sliding = false) {
  const std::int64_t b = query_states.size(0), s = query_states.size(2);
  if (inputs.cache) std::tie(key_states, value_states) = inputs.cache->update(key_states, value_states, layer, sliding);
  call.kind = inputs.context.attention;
  auto [attn_output, attn_weights] = attention_interface(call, query_states, key_states, value_states, inputs.mask);
  attn_output = contiguous(reshape(std::move(attn_output), {b, s, -1}));
  return {std::move(attn_output), std::move(attn_weights)};
}

/// What an attention module returns, through the hooks behind its call.
inline Attended returned(const Call& call, Attended attended) {
  call.returns({&attended.output, &attended.weights});
  return attended;
}

/// attn_output = projection(attn_output), beside the weights.
Attended projected(Module& projection, Attended attended);

/// `a, b = tensors`: the list itself is let go of.
template <std::size_t N>
std::array<Tensor, N> unpack(Tensors tensors) {
  std::array<Tensor, N> parts;
  for (std::size_t i = 0; i < N; ++i) parts[i] = std::move(tensors[i]);
  return parts;
}

/// x (B, S, H * D) -> (B, H, S, D)
Tensor split_heads(Tensor x, std::int64_t head_dim);

/// transformers: loss.loss_utils.ForCausalLMLoss
Tensor causal_lm_loss(Tensor logits, Tensor labels, Tensor shift_labels = {});

}  // namespace tidemark
