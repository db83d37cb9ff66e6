#include "nn/vit.h"

namespace tidemark {
namespace {

Tensor patch_convolution_forward(Module& m, Tensor x) {
  return patch_convolution(std::move(x), m("weight"), m.has_parameter("bias") ? m("bias") : Tensor());
}

Attended encoder_attention(Module& m, Tensor input, const Encoder& config, const Context& context, const Tensor& mask) {
  const Tensor hidden_states = std::move(input);
  const InModule scope(hidden_states.run(), m);
  const std::int64_t b = hidden_states.size(0), s = hidden_states.size(1);
  const auto heads = [&](Tensor x) {
    return transpose(view(std::move(x), {b, s, config.num_attention_heads, -1}), 1, 2);
  };
  Tensor projected[3];
  for (int i = 0; i < 3; ++i) {
    constexpr const char* kNames[] = {"q_proj", "k_proj", "v_proj"};
    projected[i] = m[kNames[i]](hidden_states);
    if (!config.projects_first) projected[i] = heads(std::move(projected[i]));
  }
  if (config.projects_first)
    for (Tensor& x : projected) x = heads(std::move(x));
  const auto& [queries, keys, values] = projected;
  auto [attn_output, attn_weights] =
      attention_interface({.kind = context.attention, .dropout = config.attention_dropout, .is_causal = config.causal},
                          queries, keys, values, mask);
  attn_output = contiguous(reshape(std::move(attn_output), {b, s, -1}));
  attn_output = m[config.output](attn_output);
  return {std::move(attn_output), std::move(attn_weights)};
}

Tensor encoder_layer(Module& m, Tensor input, const Encoder& config, const Context& context, const Tensor& mask) {
  Tensor hidden_states = std::move(input);
  const Call call(m, hidden_states);
  Tensor residual = hidden_states;
  hidden_states = m[config.before](hidden_states);
  Attended attended = encoder_attention(m[config.attention], hidden_states, config, context, mask);
  hidden_states = std::move(attended.output);  // the weights stay, in `_`
  hidden_states = dropout(hidden_states, config.hidden_dropout);
  hidden_states = add(residual, hidden_states);  // ViT adds the other way round; both lie in order there
  residual = hidden_states;
  hidden_states = m[config.after](hidden_states);
  hidden_states = encoder_mlp(m["mlp"], hidden_states);
  hidden_states = dropout(hidden_states, config.hidden_dropout);
  hidden_states = add(residual, hidden_states);
  return call.returns(hidden_states);
}

}  // namespace

void add_encoder_attention(Module& layer, const Encoder& c) {
  Module& m = layer.add(c.attention);
  for (const char* name : {"k_proj", "v_proj", "q_proj", c.output})
    add_linear(m, name, c.hidden_size, c.hidden_size, true);
}

void add_encoder_mlp(Module& layer, const Encoder& c) {
  add_mlp(layer.add("mlp"), {"fc1", "activation_fn", "fc2"}, c.hidden_size, c.intermediate_size, c.hidden_act);
}

Tensor encoder_mlp(Module& m, Tensor hidden_states) {
  return chain(m, {"fc1", "activation_fn", "fc2"}, std::move(hidden_states));
}

Tensor encoder(Module& layers, const Encoder& config, const Context& context, Tensor inputs_embeds,
               Tensor attention_mask, std::vector<Tensor>* collected) {
  const Tensor argument = std::move(inputs_embeds), mask = std::move(attention_mask);
  Tensor hidden_states = argument;
  if (collected) collected->push_back(hidden_states);
  for (std::size_t i = 0; i < layers.children().size(); ++i) {
    hidden_states = checkpoint_layer(context, static_cast<std::int64_t>(i), hidden_states,
                                     [&layer = layers[i], config, context, mask](Tensor x) {
                                       return encoder_layer(layer, std::move(x), config, context, mask);
                                     })[0];
    if (collected) collected->push_back(hidden_states);
  }
  return hidden_states;
}

Module& add_patch_convolution(Module& parent, std::string_view name, std::int64_t in, std::int64_t out,
                              const Dims& kernel, bool bias) {
  Dims weight{out, in};
  for (const std::int64_t size : kernel) weight.push_back(size);
  Module& m = parent.add(name, patch_convolution_forward).parameter("weight", weight);
  return bias ? m.parameter("bias", {out}) : m;
}

}  // namespace tidemark
