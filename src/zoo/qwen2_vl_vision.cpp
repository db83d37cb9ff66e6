// transformers: models/qwen2_vl/{modeling,image_processing}_qwen2_vl.py, vision_utils.py (5.17.0)
#include "zoo/qwen2_vl_vision.h"

#include <cmath>

#include <fmt/format.h>

#include "base/error.h"

namespace tidemark {
namespace {

/// PatchEmbed.forward; the convolution is a module in it.
Tensor patch_embed_forward(Module& m, Tensor input) {
  Tensor hidden_states = std::move(input);
  Module& proj = m["proj"];
  const Dims& w = proj.get("weight").sizes;
  hidden_states = view(hidden_states, {-1, w[1], w[2], w[3], w[4]});
  const Dtype target_dtype = proj("weight").dtype();
  hidden_states = view(proj(to(hidden_states, target_dtype)), {-1, w[0]});
  return hidden_states;
}

/// torch.nn.Sequential
Tensor sequential_forward(Module& m, Tensor argument) {
  Tensor input = std::move(argument);
  for (const std::unique_ptr<Module>& module : m.children()) input = (*module)(input);
  return input;
}

/// VisionMlp.forward
Tensor mlp_forward(Module& m, Tensor x) { return m["fc2"](m["act"](m["fc1"](std::move(x)))); }

/// PatchMerger.forward
Tensor merger(Module& m, Tensor input, std::int64_t hidden_size) {
  Tensor x = std::move(input);
  const Call call(m, x);
  x = m["mlp"](view(m["ln_q"](x), {-1, hidden_size}));
  return call.returns(x);
}

/// vision_utils.get_vision_position_ids: (patches, 2), rows and columns in blocks of what is merged.
Tensor vision_position_ids(const Tensor& grid_thw, const Dims& grid, std::int64_t merge_size) {
  Run& run = grid_thw.run();
  const std::int64_t t = grid[0], h = grid[1], w = grid[2], images = grid_thw.size(0), m = merge_size;
  const Tensor merge_sizes = to_device(run, Dims{1}, Dtype::int64);
  if (images > 1) {
    const Tensor in_order = to_device(run, Dims{images}, Dtype::int64);
  }  // .tolist() of an expanded one
  const auto in_blocks = [&](const Tensor& ids) {
    const Op op(ids, "aten::flatten");
    return reshape(transpose(view(ids, {h / m, m, w / m, m}), 1, 2), {-1});
  };
  Tensors position_ids;
  Tensor hpos_ids, wpos_ids;
  for (std::int64_t image = 0; image < images; ++image) {
    Tensor rows = arange(run, h), columns = arange(run, w);
    hpos_ids = expand(view(std::move(rows), {h, 1}), {h, w});
    wpos_ids = expand(view(std::move(columns), {1, w}), {h, w});
    hpos_ids = in_blocks(hpos_ids);
    wpos_ids = in_blocks(wpos_ids);
    const Tensor both = stack({hpos_ids, wpos_ids}, -1);
    const Op op(run, "aten::repeat");
    position_ids.push_back(empty(run, Dims{t * h * w, 2}, Dtype::int64));
  }
  return cat(std::move(position_ids), 0);
}

/// vision_utils.get_vision_cu_seqlens
Tensor vision_cu_seqlens(const Tensor& grid_thw, const Dims& grid) {
  Tensor areas = mul(select(grid_thw, 1, 1), select(grid_thw, 1, 2));
  const Tensor seqlens = repeat_interleave(std::move(areas), select(grid_thw, 1, 0), grid[0] * grid_thw.size(0));
  return pad(cumsum(seqlens, 0, Dtype::int32), 1, 0);
}

/// Qwen2VLVisionRotaryEmbedding.forward: position_ids (N, 2) -> (N, D)
Rotary vision_rotary_embedding(Module& m, const Tensor& position_ids) {
  const Call call(position_ids.run(), m);
  const NoGrad no_grad(position_ids.run());
  const Tensor position_ids_expanded = to(unsqueeze(position_ids, -1), Dtype::f32);
  const Tensor freqs = mul(position_ids_expanded, m("inv_freq"));
  const auto recomposed = [](const Tensor& freq) {
    const Tensor freq_hw = cat({select(freq, 1, 0), select(freq, 1, 1)}, -1);
    return cat({freq_hw, freq_hw}, -1);
  };
  Tensor cosine = mul_scalar(cos(freqs));
  Tensor sine = mul_scalar(sin(freqs));
  cosine = recomposed(cosine);
  sine = recomposed(sine);
  call.returns(std::vector<Tensor*>{&cosine, &sine});
  return {std::move(cosine), std::move(sine)};
}

/// apply_rotary_pos_emb_vision: in float32
std::pair<Tensor, Tensor> apply_rotary_pos_emb_vision(const Tensor& query, const Tensor& key, const Rotary& rotary) {
  const Tensor q = to(query, Dtype::f32), k = to(key, Dtype::f32);
  const Tensor cos = to(unsqueeze(rotary.cos, -2), Dtype::f32);
  const Tensor sin = to(unsqueeze(rotary.sin, -2), Dtype::f32);
  Tensor q_embed = add({mul(q, cos), mul(rotate_half(q), sin)});
  Tensor k_embed = add({mul(k, cos), mul(rotate_half(k), sin)});
  q_embed = to(q_embed, query.dtype());
  k_embed = to(k_embed, key.dtype());
  return {std::move(q_embed), std::move(k_embed)};
}

/// What every block of one forward pass is given.
struct BlockInputs {
  std::int64_t heads = 1, length = 0;  // of an image, or of one of its frames
  AttentionKind attention = AttentionKind::sdpa;
  Tensor cu_seqlens;
  Rotary rotary;
};

/// VisionAttention.forward: x (N, D) -> (N, D)
Tensor vision_attention(Module& m, Tensor input, const BlockInputs& inputs) {
  Tensor hidden_states = std::move(input);
  const Call call(m, hidden_states);
  const std::int64_t n = hidden_states.size(0);
  Tensors qkv = unbind(permute(reshape(m["qkv"](hidden_states), {n, 3, inputs.heads, -1}), {1, 0, 2, 3}));
  Tensor query_states = std::move(qkv[0]), key_states = std::move(qkv[1]), value_states = std::move(qkv[2]);
  std::tie(query_states, key_states) = apply_rotary_pos_emb_vision(query_states, key_states, inputs.rotary);
  Tensors splits[3];
  Tensor* const states[] = {&query_states, &key_states, &value_states};
  for (Tensor* x : states) *x = unsqueeze(transpose(std::move(*x), 0, 1), 0);
  const Tensor lengths = sub(slice(inputs.cu_seqlens, 0, 1, inputs.cu_seqlens.size(0)),
                             slice(inputs.cu_seqlens, 0, 0, inputs.cu_seqlens.size(0) - 1));
  lengths.run().stream_calls.host_waits();  // lengths.tolist()
  for (std::size_t i = 0; i < 3; ++i) splits[i] = split(*states[i], inputs.length, 2);
  Tensors attn_outputs;
  for (std::size_t i = 0; i < splits[0].size(); ++i)
    attn_outputs.push_back(
        attention_interface(inputs.attention, splits[0][i], splits[1][i], splits[2][i], {}, 0, false));
  Tensor attn_output = cat(attn_outputs, 1);
  attn_output = contiguous(reshape(std::move(attn_output), {n, -1}));
  attn_output = m["proj"](attn_output);
  return call.returns(attn_output);
}

/// Qwen2VLVisionBlock.forward
Tensor vision_block(Module& m, Tensor input, BlockInputs inputs) {
  return called(m, std::move(input),
                [&](Tensor hidden_states) {
                  hidden_states = add(hidden_states, vision_attention(m["attn"], m["norm1"](hidden_states), inputs));
                  hidden_states = add(hidden_states, m["mlp"](m["norm2"](hidden_states)));
                  return hidden_states;
                },
                {&inputs.rotary.cos, &inputs.rotary.sin});
}

// Qwen2VLImageProcessor.size
constexpr double kMinPixels = 56 * 56, kMaxPixels = 14 * 14 * 4 * 1280;

}  // namespace

std::int64_t usual_image_side(const Qwen2VlVisionConfig& c) {
  const std::int64_t factor = c.patch_size * c.spatial_merge_size;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::sqrt(kMaxPixels)) / factor) * factor;
}

/// Qwen2VLImageProcessor's smart_resize with its own bounds, the two frames of a still image being one.
Dims image_grid(const Qwen2VlVisionConfig& c, std::int64_t height, std::int64_t width) {
  if (std::max(height, width) > 200 * std::min(height, width))
    throw Error(Errc::bad_value, "one side is more than 200 times the other", "image_size");
  const auto factor = static_cast<double>(c.patch_size * c.spatial_merge_size);
  const auto h = static_cast<double>(height), w = static_cast<double>(width);
  double h_bar = std::nearbyint(h / factor) * factor, w_bar = std::nearbyint(w / factor) * factor;
  if (h_bar * w_bar > kMaxPixels) {
    const double beta = std::sqrt(h * w / kMaxPixels);
    h_bar = std::max(factor, std::floor(h / beta / factor) * factor);
    w_bar = std::max(factor, std::floor(w / beta / factor) * factor);
  } else if (h_bar * w_bar < kMinPixels) {
    const double beta = std::sqrt(kMinPixels / (h * w));
    h_bar = std::ceil(h * beta / factor) * factor;
    w_bar = std::ceil(w * beta / factor) * factor;
  }
  return {1, static_cast<std::int64_t>(h_bar) / c.patch_size, static_cast<std::int64_t>(w_bar) / c.patch_size};
}

void add_qwen2_vl_vision(Module& m, const Qwen2VlVisionConfig& c) {
  const std::int64_t d = c.embed_dim, merged = c.merged_features();
  const Dims kernel{c.temporal_patch_size, c.patch_size, c.patch_size};
  add_patch_convolution(m.add("patch_embed", patch_embed_forward), "proj", c.in_channels, d, kernel, false);
  add_rotary(m, "rotary_pos_emb", c.head_dim() / 2);
  Module& blocks = m.add("blocks");
  for (std::int64_t i = 0; i < c.depth; ++i) {
    Module& block = blocks.add(std::to_string(i));
    add_layer_norm(block, "norm1", d);
    add_layer_norm(block, "norm2", d);
    Module& attention = block.add("attn");
    add_linear(attention, "qkv", d, 3 * d, true);
    add_linear(attention, "proj", d, d, true);
    add_mlp(block.add("mlp", mlp_forward), {"fc1", "act", "fc2"}, d, d * c.mlp_ratio, c.hidden_act);
  }
  Module& merger = m.add("merger");
  add_layer_norm(merger, "ln_q", d);
  Module& mlp = merger.add("mlp", sequential_forward);
  add_linear(mlp, "0", merged, merged, true);
  add_activation(mlp, "1", "gelu");
  add_linear(mlp, "2", merged, c.hidden_size, true);
}

VisionOutputs qwen2_vl_vision(Module& m, const Qwen2VlVisionConfig& c, const Context& context, Tensor pixel_values,
                              const Tensor& grid_thw, const Dims& grid) {
  Tensor hidden_states = std::move(pixel_values);
  const Call call(m, hidden_states);
  const Tensor position_ids = vision_position_ids(grid_thw, grid, c.spatial_merge_size);
  BlockInputs inputs{.heads = c.num_heads,
                     .length = grid[1] * grid[2],
                     .attention = context.attention,
                     .cu_seqlens = vision_cu_seqlens(grid_thw, grid),
                     .rotary = {}};
  hidden_states = m["patch_embed"](hidden_states);
  inputs.rotary = vision_rotary_embedding(m["rotary_pos_emb"], position_ids);
  Module& blocks = m["blocks"];
  for (std::size_t i = 0; i < blocks.children().size(); ++i)
    hidden_states = checkpoint_layer(
        context, static_cast<std::int64_t>(i), hidden_states,
        [&block = blocks[i], inputs](Tensor x) { return vision_block(block, std::move(x), inputs); })[0];
  Tensor merged_hidden_states = merger(m["merger"], hidden_states, c.merged_features());
  VisionOutputs outputs{std::move(hidden_states), std::move(merged_hidden_states)};
  call.returns(std::vector<Tensor*>{&outputs.last_hidden_state, &outputs.pooler_output});
  return outputs;
}

}  // namespace tidemark
