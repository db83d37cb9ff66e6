// transformers: models/gpt_bigcode/{configuration,modeling}_gpt_bigcode.py (5.17.0)
#include "nn/gpt_block.h"
#include "zoo/causal_lm.h"
#include "zoo/index.h"
#include "zoo/text_config.h"

namespace tidemark {
namespace {

struct GptBigCodeConfig : GptConfig {
  bool multi_query = true, add_cross_attention = false;

  GptBigCodeConfig() {
    vocab_size = 50257, hidden_size = 768, num_hidden_layers = 12, num_attention_heads = 12;
    max_position_embeddings = 1024, hidden_act = "gelu_pytorch_tanh", tie_word_embeddings = true;
    resid_pdrop = embd_pdrop = attn_pdrop = 0.1;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    GptConfig::fields(c, visit);
    visit_all(visit, kAny, "multi_query", c.multi_query, "add_cross_attention", c.add_cross_attention);
  }
  static KeyNames harmless() {
    return {"layer_norm_epsilon", "scale_attn_weights", "attention_softmax_in_fp32", "scale_attention_softmax_in_fp32"};
  }
};

using Inputs = LayerInputs<GptBigCodeConfig>;

void add_block(Module& block, const GptBigCodeConfig& c) {
  const std::int64_t d = c.hidden_size;
  add_layer_norm(block, "ln_1", d);
  Module& attn = block.add("attn");
  add_linear(attn, "c_attn", d, d + 2 * (c.multi_query ? c.head_size() : d), true);
  add_linear(attn, "c_proj", d, d, true);
  add_dropout(attn, "resid_dropout", c.resid_pdrop);
  add_layer_norm(block, "ln_2", d);
  Module& mlp = block.add("mlp");
  add_mlp(mlp, {"c_fc", "act", "c_proj"}, d, c.inner_size(), c.hidden_act);
  add_dropout(mlp, "dropout", c.resid_pdrop);
}

/// Of one head for all queries, or as many.
std::array<Tensor, 3> query_key_value(Tensor states, const GptBigCodeConfig& c) {
  const std::int64_t b = states.size(0), s = states.size(1), head_dim = c.head_size();
  if (!c.multi_query)
    return unpack<3>(split_sizes(transpose(view(std::move(states), {b, s, c.num_attention_heads, 3 * head_dim}), 1, 2),
                                 {head_dim, head_dim, head_dim}, 3));
  auto parts = unpack<3>(split_sizes(unsqueeze(std::move(states), 1), {c.hidden_size, head_dim, head_dim}, 3));
  parts[0] = transpose(view(std::move(parts[0]), {b, s, -1, head_dim}), 1, 2);
  return parts;
}

/// GPTBigCodeAttention.forward
Attended attention(Module& m, Tensor input, const Inputs& inputs, std::size_t layer) {
  Tensor hidden_states = std::move(input);
  const Call call(m, hidden_states);
  auto [query, key, value] = query_key_value(m["c_attn"](hidden_states), inputs.config);
  Attended attended = attend({.dropout = inputs.config.attn_pdrop}, inputs, layer, query, key, value);
  attended = projected(m["c_proj"], std::move(attended));
  attended = projected(m["resid_dropout"], std::move(attended));
  return returned(call, std::move(attended));
}

Tensor block(Module& m, Tensor input, const Inputs& inputs, std::size_t layer) {
  return gpt_block(m, std::move(input), inputs, layer, attention).output;
}

Module& add_model(Module& root, const GptBigCodeConfig& c) {
  Module& m = root.add("transformer");
  m.buffer("bias", {c.max_position_embeddings, c.max_position_embeddings}, Dtype::boolean);
  return add_gpt_model(m, c, c.embd_pdrop, add_block);
}

/// GPTBigCodeModel.forward
Tensor model_forward(Module& m, Inputs inputs, const Batch& batch) {
  const Call call(batch.input_ids.run(), m);
  const Tensor inputs_embeds = m["wte"](batch.input_ids);
  const Tensor position_ids = text_position_ids(inputs_embeds);
  inputs.mask = create_causal_mask(inputs.context, inputs_embeds, batch.attention_mask);
  const Tensor position_embeds = m["wpe"](position_ids);
  Tensor hidden_states = add(inputs_embeds, position_embeds);
  hidden_states = m["drop"](hidden_states);
  hidden_states = run_layers(m["h"], std::move(hidden_states), inputs, block);
  return call.returns(m["ln_f"](hidden_states));
}

}  // namespace

std::unique_ptr<Model> make_gpt_bigcode(const ModelRequest& request) {
  const auto c = read_config<GptBigCodeConfig>(request.config);
  refuse(c.add_cross_attention, "add_cross_attention", "true");
  return make_causal_lm<GptBigCodeConfig>(request, c, {add_model, "wte", model_forward, true});
}

}  // namespace tidemark
