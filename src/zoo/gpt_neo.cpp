// transformers: models/gpt_neo/{configuration,modeling}_gpt_neo.py (5.17.0)
#include "nn/gpt_block.h"
#include "zoo/causal_lm.h"
#include "zoo/index.h"
#include "zoo/text_config.h"

namespace tidemark {
namespace {

struct GptNeoConfig : TextConfig {
  static constexpr TextConfigNames kNames{
      .num_hidden_layers = "num_layers", .num_attention_heads = "num_heads", .hidden_act = "activation_function"};
  std::optional<std::int64_t> intermediate_size;
  double resid_dropout = 0, embed_dropout = 0, attention_dropout = 0;
  Value attention_types;

  GptNeoConfig() {
    vocab_size = 50257, hidden_size = 2048, num_hidden_layers = 24, num_attention_heads = 16;
    hidden_act = "gelu_new", tie_word_embeddings = true;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    TextConfig::fields(c, visit);
    visit("intermediate_size", c.intermediate_size, kSize);
    visit_all(visit, kProbability, "resid_dropout", c.resid_dropout, "embed_dropout", c.embed_dropout,
              "attention_dropout", c.attention_dropout);
    visit("attention_types", c.attention_types, kAny);
  }
  /// A window changes the mask alone, which each layer has a whole one of; the list is derived from the types.
  static KeyNames harmless() {
    return {"layer_norm_epsilon", "window_size", "attention_layers", "classifier_dropout"};
  }
};

using Inputs = LayerInputs<GptNeoConfig>;

void add_block(Module& block, const GptNeoConfig& c) {
  const std::int64_t d = c.hidden_size, positions = c.max_position_embeddings;
  add_layer_norm(block, "ln_1", d);
  Module& attention = block.add("attn").add("attention");
  attention.buffer("bias", {1, 1, positions, positions}, Dtype::boolean);
  add_dropout(attention, "attn_dropout", c.attention_dropout);
  add_dropout(attention, "resid_dropout", c.resid_dropout);
  for (const char* name : {"k_proj", "v_proj", "q_proj"}) add_linear(attention, name, d, d, false);
  add_linear(attention, "out_proj", d, d, true);
  add_layer_norm(block, "ln_2", d);
  Module& mlp = block.add("mlp");
  add_mlp(mlp, {"c_fc", "act", "c_proj"}, d, c.intermediate_size.value_or(4 * d), c.hidden_act);
  add_dropout(mlp, "dropout", c.resid_dropout);
}

/// GPTNeoSelfAttention.forward
Attended self_attention(Module& m, Tensor input, const Inputs& inputs, std::size_t layer) {
  Tensor hidden_states = std::move(input);
  const Call call(m, hidden_states);
  const std::int64_t head_dim = inputs.config.head_size();
  Tensor query = m["q_proj"](hidden_states);
  Tensor key = m["k_proj"](hidden_states);
  Tensor value = m["v_proj"](hidden_states);
  for (Tensor* states : {&query, &key, &value}) *states = split_heads(std::move(*states), head_dim);
  if (inputs.cache) std::tie(key, value) = inputs.cache->update(key, value, layer);
  const std::int64_t length = key.size(-2);
  const Tensor causal_mask = slice(slice(m("bias"), 2, 0, length), 3, 0, length);
  Attended attended = upcast_attention(m["attn_dropout"], query, key, value, causal_mask, inputs.mask, false);
  attended.output = contiguous(transpose(attended.output, 1, 2));
  attended.output = view(attended.output, hidden_states.sizes());
  attended = projected(m["out_proj"], std::move(attended));
  attended = projected(m["resid_dropout"], std::move(attended));
  return returned(call, std::move(attended));
}

/// GPTNeoAttention.forward
Attended attention(Module& m, Tensor input, const Inputs& inputs, std::size_t layer) {
  Tensor hidden_states = std::move(input);
  const Call call(m, hidden_states);
  Attended attended = self_attention(m["attention"], hidden_states, inputs, layer);
  return returned(call, std::move(attended));
}

Tensors block(Module& m, Tensor input, const Inputs& inputs, std::size_t layer) {
  Attended returned = gpt_block(m, std::move(input), inputs, layer, attention);
  return {std::move(returned.output), std::move(returned.weights)};
}

Module& add_model(Module& root, const GptNeoConfig& c) {
  return add_gpt_model(root.add("transformer"), c, c.embed_dropout, add_block);
}

/// GPTNeoModel.forward
Tensor model_forward(Module& m, Inputs inputs, const Batch& batch) {
  const Call call(batch.input_ids.run(), m);
  const Tensor inputs_embeds = m["wte"](batch.input_ids);
  Tensor position_ids = text_position_ids(inputs_embeds);
  inputs.mask = create_causal_mask(inputs.context, inputs_embeds, batch.attention_mask);
  const Tensor position_embeds = m["wpe"](position_ids);
  Tensor hidden_states = add(inputs_embeds, position_embeds);
  hidden_states = m["drop"](hidden_states);
  Tensors outputs;
  hidden_states = run_layers(m["h"], std::move(hidden_states), inputs, block, outputs);
  return call.returns(m["ln_f"](hidden_states));
}

}  // namespace

std::unique_ptr<Model> make_gpt_neo(const ModelRequest& request) {
  const auto c = read_config<GptNeoConfig>(request.config);
  check_layers_of_types(c.attention_types, 24, {"attention_types", c.num_hidden_layers});
  return make_causal_lm<GptNeoConfig>(request, c, {add_model, "wte", model_forward, true});
}

}  // namespace tidemark
