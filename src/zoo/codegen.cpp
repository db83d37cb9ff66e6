// transformers: models/codegen/{configuration,modeling}_codegen.py (5.17.0)
#include "zoo/causal_lm.h"
#include "zoo/index.h"
#include "zoo/text_config.h"

namespace tidemark {
namespace {

constexpr std::int64_t kParts = 4;  // mp_num

struct CodeGenConfig : GptConfig {
  std::int64_t rotary_dim = 64;

  CodeGenConfig() {
    vocab_size = 50400, hidden_size = 4096, num_hidden_layers = 28, num_attention_heads = 16;
    hidden_act = "gelu_new";
  }
  template <class Self, class Visit>
  static void fields(Self& c, Visit&& visit) {
    GptConfig::fields(c, visit);
    visit("rotary_dim", c.rotary_dim, kSize);
  }
  static KeyNames harmless() { return {"layer_norm_epsilon", "n_ctx"}; }
};

using Inputs = LayerInputs<CodeGenConfig>;

void add_block(Module& block, const CodeGenConfig& c) {
  const std::int64_t d = c.hidden_size;
  add_layer_norm(block, "ln_1", d);
  Module& attn = block.add("attn").buffer("embed_positions", {c.max_position_embeddings, c.rotary_dim}, Dtype::f32);
  add_dropout(attn, "attn_dropout", c.attn_pdrop);
  add_dropout(attn, "resid_dropout", c.resid_pdrop);
  add_linear(attn, "qkv_proj", d, 3 * d, false);
  add_linear(attn, "out_proj", d, d, false);
  Module& mlp = block.add("mlp");
  add_mlp(mlp, {"fc_in", "act", "fc_out"}, d, c.inner_size(), c.hidden_act);
  add_dropout(mlp, "dropout", c.resid_pdrop);
}

/// x.reshape(…, n_head / 4, head_dim), whose parts are put together again: (B, S, H, D)
Tensor split_heads_of_parts(const Tensor& x, std::int64_t heads, std::int64_t head_dim) {
  const Tensor reshaped = reshape(x, {x.size(0), x.size(1), kParts, heads / kParts, head_dim});
  return reshape(reshaped, {x.size(0), x.size(1), heads, head_dim});
}

/// CodeGenAttention.forward
Attended attention(Module& m, Tensor input, const Inputs& inputs, std::size_t layer) {
  Tensor hidden_states = std::move(input);
  const Call call(m, Call::Keyword{hidden_states});
  const CodeGenConfig& c = inputs.config;
  const std::int64_t d = c.head_size(), h = c.num_attention_heads, b = hidden_states.size(0), s = hidden_states.size(1);
  const Tensor qkv_split = reshape(m["qkv_proj"](hidden_states), {b, s, kParts, -1});
  auto [query, value, key] = unpack<3>(split(qkv_split, d * h / kParts, -1));
  query = split_heads_of_parts(query, h, d);
  key = split_heads_of_parts(key, h, d);
  value = permute(split_heads_of_parts(value, h, d), {0, 2, 1, 3});
  const Tensor sincos = index_rows(m("embed_positions"), inputs.position_ids);
  auto [sin, cos] = unpack<2>(split(sincos, sincos.size(-1) / 2, -1));
  const Rotary rotary{.cos = std::move(cos), .sin = std::move(sin)};
  const Tensor k_rot = slice(key, -1, 0, c.rotary_dim), k_pass = slice(key, -1, c.rotary_dim, d);
  const Tensor q_rot = slice(query, -1, 0, c.rotary_dim), q_pass = slice(query, -1, c.rotary_dim, d);
  const Tensor k_turned = apply_interleaved_rotary_pos_emb(k_rot, rotary);
  const Tensor q_turned = apply_interleaved_rotary_pos_emb(q_rot, rotary);
  key = cat({k_turned, k_pass}, -1);
  query = cat({q_turned, q_pass}, -1);
  key = permute(key, {0, 2, 1, 3});
  query = permute(query, {0, 2, 1, 3});
  if (inputs.cache) std::tie(key, value) = inputs.cache->update(to(key, hidden_states.dtype()), value, layer);
  Attended attended = upcast_attention(m["attn_dropout"], query, key, value, {}, inputs.mask, true);
  attended.output = contiguous(permute(attended.output, {0, 2, 1, 3}));
  attended.output = view(attended.output, hidden_states.sizes());
  attended = projected(m["out_proj"], std::move(attended));
  attended = projected(m["resid_dropout"], std::move(attended));
  return returned(call, std::move(attended));
}

/// CodeGenBlock.forward
Tensors block(Module& m, Tensor input, const Inputs& inputs, std::size_t layer) {
  Tensor hidden_states = std::move(input);
  const Call call(m, hidden_states);
  const Tensor residual = hidden_states;
  hidden_states = m["ln_1"](hidden_states);
  const Attended attended = attention(m["attn"], hidden_states, inputs, layer);
  const Tensor feed_forward_hidden_states = chain(m["mlp"], {"fc_in", "act", "fc_out", "dropout"}, hidden_states);
  hidden_states = add(add(attended.output, feed_forward_hidden_states), residual);
  return {call.returns(hidden_states), attended.weights};
}

Module& add_model(Module& root, const CodeGenConfig& c) {
  Module& m = root.add("transformer");
  add_embedding(m, "wte", c.vocab_size, c.hidden_size);
  add_dropout(m, "drop", c.embd_pdrop);
  add_layers(m, "h", c.num_hidden_layers, add_block, c);
  add_layer_norm(m, "ln_f", c.hidden_size);
  return m;
}

/// CodeGenModel.forward
Tensor model_forward(Module& m, Inputs inputs, const Batch& batch) {
  const Call call(batch.input_ids.run(), m);
  const Tensor inputs_embeds = m["wte"](batch.input_ids);
  inputs.position_ids = text_position_ids(inputs_embeds);
  inputs.mask = create_causal_mask(inputs.context, inputs_embeds, batch.attention_mask);
  Tensor hidden_states = m["drop"](inputs_embeds);
  Tensors outputs;
  hidden_states = run_layers(m["h"], std::move(hidden_states), inputs, block, outputs);
  return call.returns(m["ln_f"](hidden_states));
}

}  // namespace

std::unique_ptr<Model> make_codegen(const ModelRequest& request) {
  const auto c = read_config<CodeGenConfig>(request.config);
  check_divides({"n_head", c.num_attention_heads}, {"the four parts of its projection", kParts});
  check_rotary({"rotary_dim", c.rotary_dim <= c.head_size() ? c.rotary_dim : 0});
  return make_causal_lm<CodeGenConfig>(request, c, {add_model, "wte", model_forward, false, "lm_head", true});
}

}  // namespace tidemark
