// transformers: models/bloom/modeling_bloom.py (5.17.0)
#include <cmath>

#include "nn/alibi.h"
#include "nn/bloom_gelu.h"
#include "zoo/bloom_config.h"
#include "zoo/causal_lm.h"
#include "zoo/index.h"

namespace tidemark {
namespace {

struct Inputs : LayerInputs<BloomConfig> {
  Tensor alibi = {};
};

void add_block(Module& block, const BloomConfig& c) {
  const std::int64_t d = c.hidden_size;
  add_layer_norm(block, "input_layernorm", d);
  Module& attention = block.add("self_attention");
  add_linear(attention, "query_key_value", d, 3 * d, true);
  add_linear(attention, "dense", d, d, true);
  add_dropout(attention, "attention_dropout", c.attention_dropout);
  add_layer_norm(block, "post_attention_layernorm", d);
  Module& mlp = block.add("mlp");
  add_linear(mlp, "dense_h_to_4h", d, 4 * d, true);
  mlp.add("gelu_impl", bloom_gelu);
  add_linear(mlp, "dense_4h_to_h", 4 * d, d, true);
}

Module& add_model(Module& root, const BloomConfig& c) {
  Module& m = root.add("transformer");
  add_embedding(m, "word_embeddings", c.vocab_size, c.hidden_size);
  add_layer_norm(m, "word_embeddings_layernorm", c.hidden_size);
  add_layers(m, "h", c.num_hidden_layers, add_block, c);
  add_layer_norm(m, "ln_f", c.hidden_size);
  return m;
}

/// dropout_add
Tensor dropout_add(const Tensor& x, const Tensor& residual, double probability) {
  Tensor out = dropout(x, probability);
  out = add(residual, out);
  return out;
}

/// BloomAttention.forward
Tensors attention(Module& m, Tensor input, Tensor residual, const Inputs& inputs, std::size_t layer) {
  Tensor hidden_states = std::move(input);
  const Call call(m, {&hidden_states, &residual});
  const BloomConfig& c = inputs.config;
  const std::int64_t b = hidden_states.size(0), s = hidden_states.size(1), h = c.num_attention_heads, d = c.head_size();
  const Tensor fused_qkv = m["query_key_value"](hidden_states);
  const Tensor shaped = view(fused_qkv, {b, s, h, 3, d});
  Tensor query_layer = transpose(select(shaped, 3, 0), 1, 2);
  Tensor key_layer = transpose(select(shaped, 3, 1), 1, 2);
  Tensor value_layer = transpose(select(shaped, 3, 2), 1, 2);
  if (inputs.cache) std::tie(key_layer, value_layer) = inputs.cache->update(key_layer, value_layer, layer);
  query_layer = reshape(query_layer, {b * h, -1, d});
  key_layer = transpose(reshape(key_layer, {b * h, -1, d}), -1, -2);
  value_layer = reshape(value_layer, {b * h, -1, d});
  const Tensor attention_scores = baddbmm(inputs.alibi, query_layer, key_layer, 1 / std::sqrt(static_cast<double>(d)));
  Tensor attn_weights = view(attention_scores, {b, h, s, -1});
  if (inputs.mask) attn_weights = add(attn_weights, inputs.mask);
  Tensor attention_probs = to(softmax(attn_weights, Dtype::f32), query_layer.dtype());
  attention_probs = m["attention_dropout"](attention_probs);
  const Tensor attention_probs_reshaped = view(attention_probs, {b * h, s, -1});
  Tensor context_layer = bmm(attention_probs_reshaped, value_layer);
  context_layer = reshape(permute(view(context_layer, {b, h, s, d}), {0, 2, 1, 3}), {b, s, h * d});
  Tensor output_tensor = m["dense"](context_layer);
  output_tensor = dropout_add(output_tensor, residual, c.hidden_dropout);
  call.returns({&output_tensor, &attention_probs});
  return {output_tensor, attention_probs};
}

/// BloomMLP.forward
Tensor mlp(Module& m, Tensor input, Tensor residual, const BloomConfig& c) {
  Tensor hidden_states = std::move(input);
  const Call call(m, {&hidden_states, &residual});
  hidden_states = m["gelu_impl"](m["dense_h_to_4h"](hidden_states));
  const Tensor intermediate_output = m["dense_4h_to_h"](hidden_states);
  return call.returns(dropout_add(intermediate_output, residual, c.hidden_dropout));
}

/// BloomBlock.forward
Tensors block(Module& m, Tensor input, const Inputs& inputs, std::size_t layer) {
  Tensor hidden_states = std::move(input);
  const Call call(m, hidden_states);
  const bool after = inputs.config.apply_residual_connection_post_layernorm;
  Tensor layernorm_output = m["input_layernorm"](hidden_states);
  Tensor residual = after ? layernorm_output : hidden_states;
  const Tensors attended = attention(m["self_attention"], layernorm_output, residual, inputs, layer);
  layernorm_output = m["post_attention_layernorm"](attended[0]);
  residual = after ? layernorm_output : attended[0];
  return {call.returns(mlp(m["mlp"], layernorm_output, residual, inputs.config)), attended[1]};
}

/// BloomModel.forward
Tensor model_forward(Module& m, LayerInputs<BloomConfig> given, const Batch& batch) {
  const Call call(batch.input_ids.run(), m);
  Inputs inputs{std::move(given)};
  const Tensor inputs_embeds = m["word_embeddings"](batch.input_ids);
  Tensor hidden_states = m["word_embeddings_layernorm"](inputs_embeds);
  inputs.alibi = build_alibi_tensor(batch.attention_mask, inputs.config.num_attention_heads, hidden_states.dtype());
  inputs.mask = create_causal_mask(inputs.context, inputs_embeds, batch.attention_mask);
  Tensors outputs;
  hidden_states = run_layers(m["h"], std::move(hidden_states), inputs, block, outputs);
  return call.returns(m["ln_f"](hidden_states));
}

}  // namespace

std::unique_ptr<Model> make_bloom(const ModelRequest& request) {
  const auto c = read_config<BloomConfig>(request.config);
  refuse(c.slow_but_exact && c.pretraining_tp > 1, "slow_but_exact", "true");
  return make_causal_lm<BloomConfig>(request, c, {add_model, "word_embeddings", model_forward});
}

}  // namespace tidemark
