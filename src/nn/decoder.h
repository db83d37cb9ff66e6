// The decoder that Llama made common: norm, rotary attention, norm, gated MLP.  Reads like
// transformers/models/llama/modeling_llama.py; families that differ by a flag share it, others build on its parts.
#pragma once
#include "nn/attention.h"
#include "nn/checkpoint.h"
#include "nn/experts.h"
#include "nn/layers.h"

namespace tidemark {

struct Decoder;
using DecoderInputs = LayerInputs<Decoder>;

/// B batch, S sequence, D hidden_size, H num_attention_heads, K num_key_value_heads, F intermediate_size.
struct Decoder {
  std::int64_t vocab_size = 0, hidden_size = 0, intermediate_size = 0, num_hidden_layers = 0;
  std::int64_t num_attention_heads = 0, num_key_value_heads = 0, head_dim = 0;
  bool qkv_bias = false, output_bias = false, mlp_bias = false;
  bool qk_norm = false;             // over each head of queries and keys …
  bool norms_before_heads = false;  // … or over all of them at once
  bool projects_first = false;      // all three projections, and then their views
  std::string hidden_act = "silu";
  bool tie_word_embeddings = false;
  std::optional<std::int64_t> pad_token_id = {};
  double attention_dropout = 0, residual_dropout = 0;
  std::int64_t rotary_dim = 0;  // of a head; 0: all of it
  RopeUpdate rope = {};
  Experts experts = {};                 // in place of the MLP …
  std::vector<bool> dense_layers = {};  // … but for these

  // Attention to a window: whether there are layers without one, and which have it (an empty list: all).
  std::optional<std::int64_t> sliding_window = {};
  bool full_attention = true;
  bool is_causal = true;  // false: each token sees those behind it, too
  std::vector<bool> sliding_layers = {};

  // Of layers that are built in another way.
  void (*add_layer)(Module& layer, const Decoder& config) = nullptr;
  Tensor (*layer)(Module& m, Tensor hidden_states, const DecoderInputs& inputs, std::size_t index) = nullptr;
};

/// Whether the layer attends to a window.
bool is_sliding(const Decoder& config, std::size_t layer);
/// Whether it has experts.
bool is_sparse(const Decoder& config, std::size_t layer);
void add_decoder_attention(Module& layer, const Decoder& config);
void add_gated_mlp(Module& layer, const Decoder& config, std::string_view name = "mlp");
/// self_attn, mlp, input_layernorm, post_attention_layernorm
void add_decoder_layer(Module& layer, const Decoder& config);
/// The same with experts.
void add_sparse_layer(Module& layer, const Decoder& config);
/// embed_tokens, layers, norm, rotary_emb.
void add_decoder(Module& model, const Decoder& config);

/// x (B, S, D) -> (B, S, D)
Attended decoder_attention(Module& m, Tensor hidden_states, const DecoderInputs& inputs, std::size_t layer);
Tensor gated_mlp(Module& m, Tensor x);
Tensor decoder_layer(Module& m, Tensor hidden_states, const DecoderInputs& inputs, std::size_t layer);

/// LlamaModel.forward: inputs_embeds (B, S, D) or, when empty, input_ids (B, S) -> (B, S, D); position_ids (B, S) are
/// made when there are none.
Tensor decoder_model(Module& m, const Decoder& config, const Context& context, Tensor input_ids, Tensor inputs_embeds,
                     const Tensor& attention_mask, DynamicCache& cache, std::shared_ptr<CapturedOutputs> captured = {},
                     Tensor position_ids = {});

}  // namespace tidemark
