// transformers: models/gpt2/{configuration,modeling}_gpt2.py (5.17.0)
#include "nn/gpt_block.h"
#include "zoo/causal_lm.h"
#include "zoo/index.h"
#include "zoo/text_config.h"

namespace tidemark {
namespace {

struct Gpt2Config : GptConfig {
  bool reorder_and_upcast_attn = false, add_cross_attention = false;

  Gpt2Config() {
    vocab_size = 50257, hidden_size = 768, num_hidden_layers = 12, num_attention_heads = 12;
    max_position_embeddings = 1024, hidden_act = "gelu_new", tie_word_embeddings = true;
    resid_pdrop = embd_pdrop = attn_pdrop = 0.1;
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    GptConfig::fields(c, visit);
    visit_all(visit, kAny, "reorder_and_upcast_attn", c.reorder_and_upcast_attn, "add_cross_attention",
              c.add_cross_attention);
  }
  static KeyNames harmless() {
    return {"layer_norm_epsilon", "scale_attn_by_inverse_layer_idx", "scale_attn_weights", "summary_*"};
  }
};

using BlockInputs = LayerInputs<Gpt2Config>;

void add_block(Module& block, const Gpt2Config& c) {
  add_layer_norm(block, "ln_1", c.hidden_size);
  Module& attn = block.add("attn");
  add_conv1d(attn, "c_attn", c.hidden_size, 3 * c.hidden_size);
  add_conv1d(attn, "c_proj", c.hidden_size, c.hidden_size);
  add_dropout(attn, "attn_dropout", c.attn_pdrop);
  add_dropout(attn, "resid_dropout", c.resid_pdrop);
  add_layer_norm(block, "ln_2", c.hidden_size);
  Module& mlp = block.add("mlp");
  add_conv1d(mlp, "c_fc", c.hidden_size, c.inner_size());
  add_conv1d(mlp, "c_proj", c.inner_size(), c.hidden_size);
  add_activation(mlp, "act", c.hidden_act);
  add_dropout(mlp, "dropout", c.resid_pdrop);
}

/// GPT2Attention.forward
Attended attention(Module& m, Tensor input, const BlockInputs& inputs, std::size_t layer) {
  Tensor hidden_states = std::move(input);
  const Call scope(m, hidden_states);
  const Gpt2Config& c = inputs.config;
  const std::int64_t head_dim = c.head_size();
  Tensors states = split(m["c_attn"](hidden_states), c.hidden_size, 2);
  Tensor key_states = split_heads(std::move(states[1]), head_dim);
  Tensor value_states = split_heads(std::move(states[2]), head_dim);
  const Tensor query_states = split_heads(std::move(states[0]), head_dim);
  const AttentionCall call{.dropout = c.attn_pdrop,
                           .dropout_module = &m["attn_dropout"],
                           .softmax_in_f32 = false,
                           .weights_in_type_of_value = true,
                           .eager_is_contiguous = false};
  Attended attended = attend(call, inputs, layer, query_states, key_states, value_states);
  attended = projected(m["c_proj"], std::move(attended));
  attended = projected(m["resid_dropout"], std::move(attended));
  return returned(scope, std::move(attended));
}

Tensor block(Module& m, Tensor input, const BlockInputs& inputs, std::size_t layer) {
  return gpt_block(m, std::move(input), inputs, layer, attention).output;
}

Module& add_model(Module& root, const Gpt2Config& c) {
  return add_gpt_model(root.add("transformer"), c, c.embd_pdrop, add_block);
}

/// GPT2Model.forward
Tensor model_forward(Module& m, BlockInputs inputs, const Batch& batch) {
  const Call call(batch.input_ids.run(), m);
  const Tensor inputs_embeds = m["wte"](batch.input_ids);
  inputs.position_ids = batch.position_ids ? batch.position_ids : text_position_ids(inputs_embeds);
  const Tensor position_embeds = m["wpe"](inputs.position_ids);
  Tensor hidden_states = add(inputs_embeds, position_embeds);
  inputs.mask = create_causal_mask(inputs.context, inputs_embeds, batch.attention_mask);
  hidden_states = m["drop"](hidden_states);
  hidden_states = run_layers(m["h"], std::move(hidden_states), inputs, block);
  return call.returns(m["ln_f"](hidden_states));
}

}  // namespace

std::unique_ptr<Model> make_gpt2(const ModelRequest& request) {
  const auto c = read_config<Gpt2Config>(request.config);
  refuse(c.add_cross_attention, "add_cross_attention", "true");
  refuse(c.reorder_and_upcast_attn && request.context.attention == AttentionKind::eager, "reorder_and_upcast_attn",
         "true");
  return make_causal_lm<Gpt2Config>(request, c,
                                    {.add = add_model,
                                     .embedding = "wte",
                                     .forward = model_forward,
                                     .learned_positions = true,
                                     .takes_positions = true});
}

}  // namespace tidemark
