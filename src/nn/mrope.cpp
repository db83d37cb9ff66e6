#include "nn/mrope.h"

namespace tidemark {
namespace {

/// x + position, which is a number until the first image, and a tensor of one number after it.
Tensor plus(const Tensor& x, const Tensor& position) { return position ? add(x, position) : add_scalar(x); }

/// Qwen2VLModel.get_vision_position_ids: (3, T * H * W)
Tensor get_vision_position_ids(Run& run, const Tensor& start_position, const Dims& grid, std::int64_t merge_size) {
  const std::int64_t t = grid[0], h = grid[1] / merge_size, w = grid[2] / merge_size;
  const Tensor position_temporal = mul_scalar(arange(run, t));
  const Tensor position_height = plus(arange(run, h), start_position);
  const Tensor position_width = plus(arange(run, w), start_position);
  const Dims sizes{t, h, w};
  const Tensor t_grid = expand(view(position_temporal, {t, 1, 1}), sizes);
  const Tensor h_grid = expand(view(position_height, {1, h, 1}), sizes);
  const Tensor w_grid = expand(view(position_width, {1, 1, w}), sizes);
  return view(stack({t_grid, h_grid, w_grid}, 0), {3, -1});
}

/// current_pos += max(grid_thw[1], grid_thw[2]) // spatial_merge_size; in place once it is a tensor.
void pass_image(Tensor& current_pos, const Tensor& grid_thw) {
  const Tensor side = select(grid_thw, 0, 1);
  {
    const Tensor wider = compare("aten::gt", side);
    wider.run().stream_calls.host_waits();
  }
  const Tensor merged = floor_divide(side);
  if (!current_pos) current_pos = add_scalar(merged);
}

Tensor text_position_ids(Run& run, std::int64_t length, const Tensor& current_pos) {
  const Tensor range = expand(view(arange(run, length), {1, -1}), {3, -1});
  return plus(range, current_pos);
}

struct Sample {
  Tensor current_input_ids, input_token_type, current_pos, vision_position_ids, llm_positions;
  Tensors llm_pos_ids_list;
};

/// current_input_ids[attention_mask[batch_idx].bool()]
Tensor unpadded(const Tensor& x, const Batch& batch, std::int64_t index) {
  const Tensor mask = to(select(batch.attention_mask, 0, index), Dtype::boolean);
  return index_mask(x, mask, mask.size(0));
}

void position_sample(Sample& s, const Batch& batch, std::int64_t index, const ImageTokens& layout,
                     std::int64_t merge_size) {
  Run& run = batch.input_ids.run();
  s.current_input_ids = select(batch.input_ids, 0, index);
  s.input_token_type = select(batch.mm_token_type_ids, 0, index);
  s.current_input_ids = unpadded(s.current_input_ids, batch, index);
  s.input_token_type = unpadded(s.input_token_type, batch, index);
  s.current_pos.reset();
  s.llm_pos_ids_list.clear();
  std::int64_t text = 1;  // what opens an image
  for (std::int64_t image = 0; image < layout.images; ++image) {
    s.llm_pos_ids_list.push_back(text_position_ids(run, text, s.current_pos));
    s.vision_position_ids = get_vision_position_ids(run, s.current_pos, batch.grid, merge_size);
    s.llm_pos_ids_list.push_back(s.vision_position_ids);
    pass_image(s.current_pos, select(batch.image_grid_thw, 0, index * layout.images + image));
    text = 2;
  }
  const std::int64_t behind = batch.input_ids.size(1) - layout.length() + 1;
  s.llm_pos_ids_list.push_back(text_position_ids(run, behind, s.current_pos));
  s.llm_positions = cat(s.llm_pos_ids_list, 1);
}

}  // namespace

RopeIndex get_rope_index(const Batch& batch, const ImageTokens& layout, std::int64_t merge_size) {
  Run& run = batch.input_ids.run();
  const std::int64_t b = batch.input_ids.size(0), s = batch.input_ids.size(1);
  Tensors mrope_position_deltas;
  Tensor position_ids = zeros(run, {3, b, s}, Dtype::int64);
  Sample sample;
  for (std::int64_t index = 0; index < b; ++index) {
    position_sample(sample, batch, index, layout, merge_size);
    {
      const Tensor mask = to(select(batch.attention_mask, 0, index), Dtype::boolean);
      index_put_mask(select(position_ids, 1, index), mask, s);
    }
    const Tensor next = add_scalar(max(sample.llm_positions));
    mrope_position_deltas.push_back(sub_scalar(next));
  }
  Tensor deltas = unsqueeze(to_device(run, Dims{b}, Dtype::int64), 1);
  return {std::move(position_ids), std::move(deltas)};
}

namespace {

/// Qwen2VLRotaryEmbedding.recomposition_frequencies: (3, B, S, D / 2) -> (B, S, D)
Tensor recomposition_frequencies(const Tensor& all, const Dims& sections) {
  Tensors parts;
  for (const Tensor& part : split_sizes(all, sections, -1)) parts.push_back(select(part, 0, 0));
  const Tensor freq = cat(std::move(parts), -1);
  return cat({freq, freq}, -1);
}

}  // namespace

Rotary multimodal_rotary_embedding(Module& m, const Tensor& like, Tensor position_ids, const Dims& sections) {
  Run& run = like.run();
  const Call call(run, m);
  const NoGrad no_grad(run);
  const Tensor positions = std::move(position_ids);
  const Tensor inv_freq = unsqueeze(unsqueeze(unsqueeze(m("inv_freq"), 0), 0), 3);
  const Tensor inv_freq_expanded = expand(inv_freq, {3, positions.size(1), -1, 1});
  const Tensor position_ids_expanded = to(unsqueeze(positions, 2), Dtype::f32);
  const Setting<bool> autocast(run.autocast.enabled, false);
  const Tensor freqs = transpose(matmul(inv_freq_expanded, position_ids_expanded), 2, 3);
  Tensor cosine = mul_scalar(cos(freqs));
  Tensor sine = mul_scalar(sin(freqs));
  sine = recomposition_frequencies(sine, sections);
  cosine = recomposition_frequencies(cosine, sections);
  Rotary rotary{to(cosine, like.dtype()), {}};
  rotary.sin = to(sine, like.dtype());
  call.returns(std::vector<Tensor*>{&rotary.cos, &rotary.sin});
  return rotary;
}

}  // namespace tidemark
