// FlashAttention-2.  torch: aten/src/ATen/native/transformers/cuda/{attention.cu,attention_backward.cu},
// flash_attn/flash_api.cpp, mha_fwd and mha_bwd (2.11.0)
#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/attention.h"

namespace tidemark {
namespace {

std::int64_t rounded_head(std::int64_t d) { return round_up(d, d <= 128 ? 32 : 64); }

/// torch: num_splits_heuristic: the fewest splits that fill 85 % as many of the multiprocessors as the best number
/// does.
std::int64_t splits_that_fill(std::int64_t blocks, std::int64_t multiprocessors, std::int64_t key_blocks) {
  constexpr std::int64_t kMost = 128;
  if (static_cast<float>(blocks) >= 0.8F * static_cast<float>(multiprocessors)) return 1;
  const std::int64_t most = std::min({kMost, multiprocessors, key_blocks});
  std::vector<float> efficiency;
  float best = 0;
  const auto is_eligible = [&](std::int64_t splits) {
    return splits == 1 || ceil_div(key_blocks, splits) != ceil_div(key_blocks, splits - 1);
  };
  for (std::int64_t splits = 1; splits <= most; ++splits) {
    if (!is_eligible(splits)) {
      efficiency.push_back(0);
      continue;
    }
    const float waves = static_cast<float>(blocks * splits) / static_cast<float>(multiprocessors);
    efficiency.push_back(waves / std::ceil(waves));
    best = std::max(best, efficiency.back());
  }
  for (std::int64_t splits = 1; splits <= most; ++splits)
    if (is_eligible(splits) && efficiency[static_cast<std::size_t>(splits - 1)] >= 0.85F * best) return splits;
  return 1;
}

/// torch: set_params_splitkv
std::int64_t splits_of(const AttentionInputs& in) {
  if (in.options.dropout != 0) return 1;
  std::int64_t heads = in.q.size(1), queries = in.q.size(2);
  const std::int64_t d = in.q.size(3), keys = in.k.size(2);
  if (queries == 1 && heads > in.k.size(1)) {  // seqlenq_ngroups_swapped
    queries = heads / in.k.size(1);
    heads = in.k.size(1);
  }
  const std::int64_t block = d <= 64 ? 256 : d <= 128 ? 128 : 64;
  return splits_that_fill(in.q.size(0) * heads * ceil_div(queries, 64), in.q.run().card().multiprocessors * 2,
                          ceil_div(keys, block));
}

Tensors backward_of_flash(Backward& call) {
  count_attention_backward(call);
  return needed(
      call, flash_attention_backward({call.gradient(), call.saved[0], call.saved[1], call.saved[2], call.saved[3]}));
}

}  // namespace

AttentionResult flash_attention_forward(const AttentionInputs& in) {
  Run& run = in.q.run();
  const Dims& q = in.q.sizes();
  AttentionResult result{.output = empty_like(in.q)};
  result.log_sum_exp = empty(run, Dims{q[0], q[1], q[2]}, Dtype::f32);
  Tensor log_sum_exp_parts, parts;
  if (const std::int64_t splits = splits_of(in); splits > 1) {
    const Setting<Category> category(run.category, Category::workspace);
    log_sum_exp_parts = empty(run, Dims{splits, q[0], q[1], q[2]}, Dtype::f32);
    parts = empty(run, Dims{splits, q[0], q[1], q[2], rounded_head(q[3])}, Dtype::f32);
  }
  Tensor random_state = empty(run, Dims{2}, Dtype::int64), unused = empty(run, Dims{}, Dtype::int64);
  if (in.options.dropout != 0) random_state = empty(run, Dims{2}, Dtype::int64);
  result.random_state = {std::move(random_state), std::move(unused)};
  return result;
}

std::array<Tensor, 3> flash_attention_backward(const AttentionGradient& call) {
  const Tensor &q = call.q, &k = call.k, &v = call.v;
  Run& run = q.run();
  const Tensor gradient = contiguous_with_heads_last(call.gradient), result = contiguous_with_heads_last(call.output);
  std::array<Tensor, 3> gradients{empty_like(q), empty_like(k), empty_like(v)};
  const std::int64_t b = q.size(0), h = q.size(1), rows = round_up(q.size(2), 128);
  const Setting<Category> category(run.category, Category::workspace);
  const Tensor softmax_d = empty(run, Dims{b, h, rows}, Dtype::f32);
  const Tensor dq_accumulated = empty(run, Dims{b, rows, h, rounded_head(q.size(3))}, Dtype::f32);
  Tensor dk_expanded, dv_expanded;
  if (h != k.size(1)) {
    dk_expanded = empty(run, Dims{b, k.size(2), h, q.size(3)}, q.dtype());
    dv_expanded = empty(run, Dims{b, k.size(2), h, q.size(3)}, q.dtype());
  }
  return gradients;
}

/// Keeps q, k, v, the result, its logarithms of sums and the state of the random numbers.
Tensor flash_attention(AttentionInputs in) {
  AttentionResult result =
      run_attention("_scaled_dot_product_flash_attention", in, [&] { return flash_attention_forward(in); });
  Tensors saved{in.q, in.k, in.v, alias(result.output), result.log_sum_exp};
  for (Tensor& state : result.random_state) saved.push_back(std::move(state));
  return record(std::move(result.output), {in.q, in.k, in.v},
                {.name = "ScaledDotProductFlashAttentionBackward0",
                 .saved = std::move(saved),
                 .facts = {.b = in.options.causal ? 1 : 0},
                 .backward = backward_of_flash});
}

/// torch: attention.cpp, pad_last_dim and post_process_flash_output
Tensor padded_flash_attention(AttentionInputs in) {
  const std::int64_t size = in.q.size(-1), padding = round_up(size, 8) - size;
  if (padding == 0) return flash_attention(std::move(in));
  for (Tensor* x : {&in.q, &in.k, &in.v}) *x = pad(*x, {0, padding});
  return slice(flash_attention(in), -1, 0, size);
}

}  // namespace tidemark
