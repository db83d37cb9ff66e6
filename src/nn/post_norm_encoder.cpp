// transformers: models/bert/modeling_bert.py (5.17.0)
#include "nn/post_norm_encoder.h"

namespace tidemark {
namespace {

using Inputs = LayerInputs<PostNormEncoder>;

/// BertSelfOutput and BertOutput
void add_output(Module& parent, std::int64_t in, const PostNormEncoder& c) {
  Module& m = parent.add("output");
  add_linear(m, "dense", in, c.hidden_size, true);
  add_layer_norm(m, "LayerNorm", c.hidden_size);
  add_dropout(m, "dropout", c.hidden_dropout);
}

void add_layer(Module& layer, const PostNormEncoder& c) {
  Module& attention = layer.add("attention");
  Module& self = attention.add("self");
  for (const char* name : {"query", "key", "value"}) add_linear(self, name, c.hidden_size, c.hidden_size, true);
  add_dropout(self, "dropout", c.attention_dropout);
  add_output(attention, c.hidden_size, c);
  Module& intermediate = layer.add("intermediate");
  add_linear(intermediate, "dense", c.hidden_size, c.intermediate_size, true);
  add_activation(intermediate, "intermediate_act_fn", c.hidden_act);
  add_output(layer, c.intermediate_size, c);
}

/// BertSelfAttention.forward
Attended self_attention(Module& m, const Tensor& hidden_states, const Inputs& inputs, std::size_t layer) {
  const InModule scope(hidden_states.run(), m);
  const std::int64_t head_dim = inputs.config.hidden_size / inputs.config.num_attention_heads;
  const Tensor query_layer = split_heads(m["query"](hidden_states), head_dim);
  Tensor key_layer = split_heads(m["key"](hidden_states), head_dim);
  Tensor value_layer = split_heads(m["value"](hidden_states), head_dim);
  const AttentionCall call{.dropout = inputs.config.attention_dropout, .is_causal = false, .softmax_in_f32 = false};
  return attend(call, inputs, layer, query_layer, key_layer, value_layer);
}

/// BertSelfOutput.forward and BertOutput.forward
Tensor output(Module& m, Tensor input, const Tensor& input_tensor) {
  const Tensor argument = std::move(input);
  const InModule scope(argument.run(), m);
  Tensor hidden_states = argument;
  hidden_states = m["dense"](hidden_states);
  hidden_states = m["dropout"](hidden_states);
  hidden_states = m["LayerNorm"](add(hidden_states, input_tensor));
  return hidden_states;
}

/// BertAttention.forward
Attended attention(Module& m, const Tensor& hidden_states, const Inputs& inputs, std::size_t layer) {
  const InModule scope(hidden_states.run(), m);
  auto [attention_output, attn_weights] = self_attention(m["self"], hidden_states, inputs, layer);
  attention_output = output(m["output"], attention_output, hidden_states);
  return {std::move(attention_output), std::move(attn_weights)};
}

/// BertLayer.forward
Tensor layer_forward(Module& m, Tensor input, const Inputs& inputs, std::size_t layer) {
  return called(m, std::move(input), [&](Tensor hidden_states) {
    const Attended attended = attention(m["attention"], hidden_states, inputs, layer);
    const Tensor intermediate_output = chain(m["intermediate"], {"dense", "intermediate_act_fn"}, attended.output);
    return output(m["output"], intermediate_output, attended.output);
  });
}

}  // namespace

void add_post_norm_encoder(Module& parent, const PostNormEncoder& c) {
  add_layers(parent.add("encoder"), "layer", c.num_hidden_layers, add_layer, c);
}

Tensor post_norm_encoder(Module& m, const LayerInputs<PostNormEncoder>& inputs, Tensor hidden_states) {
  const Tensor argument = std::move(hidden_states);
  return run_layers(m["layer"], argument, inputs, layer_forward);
}

void add_pooler(Module& parent, std::int64_t features) {
  Module& m = parent.add("pooler");
  add_linear(m, "dense", features, features, true);
  add_activation(m, "activation", "tanh");
}

Tensor pooler(Module& m, Tensor input) {
  const Tensor hidden_states = std::move(input);
  const InModule scope(hidden_states.run(), m);
  const Tensor first_token_tensor = select(hidden_states, 1, 0);
  const Tensor pooled_output = m["dense"](first_token_tensor);
  return m["activation"](pooled_output);
}

void add_masked_lm_head(Module& head, const PostNormEncoder& c, Module& embedding, bool tie) {
  const std::int64_t vocab_size = embedding.get("weight").sizes[0];
  head.parameter("bias", {vocab_size});
  Module& transform = head.add("transform");
  add_linear(transform, "dense", c.hidden_size, c.hidden_size, true);
  add_activation(transform, "transform_act_fn", c.hidden_act);
  add_layer_norm(transform, "LayerNorm", c.hidden_size);
  Module& decoder = add_linear(head, "decoder", c.hidden_size, vocab_size, true);
  if (!tie) return;
  decoder.tie("weight", embedding, "weight");
  decoder.tie("bias", head, "bias");
}

Tensor masked_lm_head(Module& m, Tensor sequence_output) {
  const Tensor argument = std::move(sequence_output);
  const Tensor hidden_states = chain(m["transform"], {"dense", "transform_act_fn", "LayerNorm"}, argument);
  return m["decoder"](hidden_states);
}

}  // namespace tidemark
