// transformers: models/gpt2/{configuration,modeling}_gpt2.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/hf_config.h"
#include "zoo/index.h"

namespace tidemark {
namespace {

struct Gpt2Config {
  std::int64_t vocab_size = 50257, n_positions = 1024, n_embd = 768, n_layer = 12, n_head = 12;
  std::optional<std::int64_t> n_inner;
  std::string activation_function = "gelu_new";
  double resid_pdrop = 0.1, embd_pdrop = 0.1, attn_pdrop = 0.1;
  bool reorder_and_upcast_attn = false, add_cross_attention = false, tie_word_embeddings = true;

  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    visit("vocab_size", c.vocab_size, kSize);
    visit("n_positions", c.n_positions, kSize);
    visit("n_embd", c.n_embd, kSize);
    visit("n_layer", c.n_layer, kLayers);
    visit("n_head", c.n_head, kSize);
    visit("n_inner", c.n_inner, kSize);
    visit("activation_function", c.activation_function, kAny);
    visit("resid_pdrop", c.resid_pdrop, kProbability);
    visit("embd_pdrop", c.embd_pdrop, kProbability);
    visit("attn_pdrop", c.attn_pdrop, kProbability);
    visit("reorder_and_upcast_attn", c.reorder_and_upcast_attn, kAny);
    visit("add_cross_attention", c.add_cross_attention, kAny);
    visit("tie_word_embeddings", c.tie_word_embeddings, kAny);
  }
  static KeyNames harmless() {
    return {"layer_norm_epsilon", "scale_attn_by_inverse_layer_idx", "scale_attn_weights", "summary_*", "n_ctx"};
  }
};

/// What every block of one forward pass is given.
struct BlockInputs {
  const Gpt2Config& config;
  const Context& context;
  Tensor mask, position_ids;
  DynamicCache* cache;
};

void add_block(Module& block, const Gpt2Config& c) {
  add_layer_norm(block, "ln_1", c.n_embd);
  Module& attn = block.add("attn");
  add_conv1d(attn, "c_attn", c.n_embd, 3 * c.n_embd);
  add_conv1d(attn, "c_proj", c.n_embd, c.n_embd);
  add_dropout(attn, "attn_dropout", c.attn_pdrop);
  add_dropout(attn, "resid_dropout", c.resid_pdrop);
  add_layer_norm(block, "ln_2", c.n_embd);
  Module& mlp = block.add("mlp");
  const std::int64_t inner = c.n_inner.value_or(4 * c.n_embd);
  add_conv1d(mlp, "c_fc", c.n_embd, inner);
  add_conv1d(mlp, "c_proj", inner, c.n_embd);
  add_activation(mlp, "act", c.activation_function);
  add_dropout(mlp, "dropout", c.resid_pdrop);
}

/// GPT2Attention.forward
Attended attention(Module& m, Tensor input, const BlockInputs& inputs, std::size_t layer) {
  const Tensor hidden_states = std::move(input);
  const InModule scope(hidden_states.run(), m);
  const Gpt2Config& c = inputs.config;
  const std::int64_t b = hidden_states.size(0), s = hidden_states.size(1), head_dim = c.n_embd / c.n_head;
  Tensors states = split(m["c_attn"](hidden_states), c.n_embd, 2);
  const auto heads = [&](Tensor x) { return transpose(view(std::move(x), {b, s, -1, head_dim}), 1, 2); };
  Tensor key_states = heads(std::move(states[1]));
  Tensor value_states = heads(std::move(states[2]));
  const Tensor query_states = heads(std::move(states[0]));
  if (inputs.cache) std::tie(key_states, value_states) = inputs.cache->update(key_states, value_states, layer);
  const AttentionCall call{.kind = inputs.context.attention,
                           .dropout = c.attn_pdrop,
                           .softmax_in_f32 = false,
                           .weights_in_type_of_value = true,
                           .eager_is_contiguous = false};
  auto [attn_output, attn_weights] = attention_interface(call, query_states, key_states, value_states, inputs.mask);
  attn_output = contiguous(reshape(std::move(attn_output), {b, s, -1}));
  attn_output = m["c_proj"](attn_output);
  attn_output = m["resid_dropout"](attn_output);
  return {std::move(attn_output), std::move(attn_weights)};
}

/// GPT2MLP.forward
Tensor mlp(Module& m, Tensor input) {
  const Tensor argument = std::move(input);
  const InModule scope(argument.run(), m);
  Tensor hidden_states = argument;
  for (const char* step : {"c_fc", "act", "c_proj", "dropout"}) hidden_states = m[step](hidden_states);
  return hidden_states;
}

/// GPT2Block.forward
Tensor block(Module& m, Tensor input, const BlockInputs& inputs, std::size_t layer) {
  Tensor hidden_states = std::move(input);
  const InModule scope(hidden_states.run(), m);
  Tensor residual = hidden_states;
  hidden_states = m["ln_1"](hidden_states);
  const Attended attended = attention(m["attn"], hidden_states, inputs, layer);
  hidden_states = add(attended.output, residual);
  residual = hidden_states;
  hidden_states = m["ln_2"](hidden_states);
  const Tensor feed_forward_hidden_states = mlp(m["mlp"], hidden_states);
  hidden_states = add(residual, feed_forward_hidden_states);
  return hidden_states;
}

/// GPT2Model.forward
Tensor model_forward(Module& m, const Gpt2Config& config, const Context& context, const Batch& batch,
                     DynamicCache& cache) {
  Run& run = batch.input_ids.run();
  const InModule scope(run, m);
  const Tensor inputs_embeds = m["wte"](batch.input_ids);
  BlockInputs inputs{config, context, {}, {}, cache.enabled ? &cache : nullptr};
  inputs.position_ids = unsqueeze(add_scalar(arange(run, inputs_embeds.size(1))), 0);
  const Tensor position_embeds = m["wpe"](inputs.position_ids);
  Tensor hidden_states = add(inputs_embeds, position_embeds);
  inputs.mask = create_causal_mask(context, inputs_embeds, batch.attention_mask);
  hidden_states = m["drop"](hidden_states);
  Module& blocks = m["h"];
  for (std::size_t i = 0; i < blocks.children().size(); ++i)
    hidden_states = checkpoint_layer(context, static_cast<std::int64_t>(i), hidden_states,
                                     [&m = blocks[i], inputs, i](Tensor x) {
                                       return block(m, std::move(x), inputs, i);
                                     });
  hidden_states = m["ln_f"](hidden_states);
  return hidden_states;
}

}  // namespace

std::unique_ptr<Model> make_gpt2(const ModelRequest& request) {
  const auto c = read_config<Gpt2Config>(request.config);
  refuse(c.add_cross_attention, "add_cross_attention", "true");
  refuse(c.reorder_and_upcast_attn && request.context.attention == AttentionKind::eager, "reorder_and_upcast_attn",
         "true");
  check_divides({"n_embd", c.n_embd}, {"n_head", c.n_head});
  auto model = std::make_unique<Model>();
  Module& root = model->root;
  root.dtype = request.dtype;
  Module& transformer = root.add("transformer");
  add_embedding(transformer, "wte", c.vocab_size, c.n_embd);
  add_embedding(transformer, "wpe", c.n_positions, c.n_embd);
  add_dropout(transformer, "drop", c.embd_pdrop);
  Module& blocks = transformer.add("h");
  for (std::int64_t i = 0; i < c.n_layer; ++i) add_block(blocks.add(std::to_string(i)), c);
  add_layer_norm(transformer, "ln_f", c.n_embd);
  add_linear(root, "lm_head", c.n_embd, c.vocab_size, false);
  if (c.tie_word_embeddings) root["lm_head"].tie("weight", transformer["wte"], "weight");
  model->batch_sizes = text_batches({"n_positions", c.n_positions});
  model->forward = [&root, c, context = request.context](const Batch& batch) {
    const InModule scope(batch.input_ids.run(), root);
    DynamicCache cache{.enabled = context.use_cache, .layers = {}, .windows = {}};
    const Tensor hidden_states = model_forward(root["transformer"], c, context, batch, cache);
    return causal_lm_outputs(root, hidden_states, batch, std::move(cache));
  };
  return model;
}

}  // namespace tidemark
