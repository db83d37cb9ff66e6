// cuDNN's fused attention.  torch: aten/src/ATen/native/cudnn/MHA.cpp, run_cudnn_SDP_fprop and _bprop (2.11.0)
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "ops/attention.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

/// torch: alloc_with_matching_layout: the dimensions in the order in which the query has them in memory.
Layout matching_layout(const Layout& query, const Dims& sizes) {
  if (query.sizes == sizes) return like(query);
  std::array<int, 4> order{0, 1, 2, 3};
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return query.strides[a] < query.strides[b]; });
  Layout result{sizes, sizes};
  std::int64_t stride = 1;
  for (int d : order) {
    result.strides[d] = stride;
    stride *= sizes[d];
  }
  return result;
}

/// Note [cuDNN's workspaces]
/// cuDNN 9.19 (in torch 2.11.0) was asked without a device, over some thousand shapes: B, H, K, S, T, head sizes of 8
/// to 256, both types, causal or not, with and without a bias and dropout, on H200, H100 and B200
/// (tools/trace/record_ops.py
/// --random).
/// Forward: 256 bytes on Hopper; on Blackwell the bits of the dropout, in tiles of 128 x 128, or nothing.
/// Backward: the sum of dO * O per row and the gradient of the query in float32, and 256 bytes on Hopper.  With grouped
/// heads, also the gradients of keys and values of each query head.  On Blackwell the bits of the dropout; without,
/// when the queries or the keys fit in one tile, a second gradient of the query with its rows rounded up to 8; cuDNN
/// 9.26 (in torch 2.15.0) only when the keys do.
struct Shape {
  const Card& card;
  const Dims &q, &k, &v;
  bool dropout, queries_count;

  bool is_hopper() const { return card.compute_capability_major == 9; }
  std::int64_t heads() const { return q[0] * q[1]; }
  std::int64_t dropout_bits() const { return heads() * round_up(q[2], 128) * round_up(k[2], 128) / 8; }
};

bool queries_count(const Run& run) { return !run.torch().cudnn_counts_tiles_of_keys; }

/// Splits of the keys for one query on Hopper, as cuDNN 9.19 and 9.26 answer
/// (tests/golden/ops/attention_one_query.json).
std::int64_t parts_of_keys(const Shape& shape) {
  const std::int64_t blocks = shape.k[0] * shape.k[1], keys = shape.k[2];
  if (keys <= 512 || 2 * blocks > shape.card.multiprocessors) return 1;
  std::int64_t parts = 1;
  while (parts < 64 && blocks * parts < shape.card.multiprocessors && ceil_div(keys, 2 * parts) >= 128) parts *= 2;
  return parts;
}

/// Each part's result in float32, the sum and the maximum of each of its rows.
std::int64_t one_query_workspace(const Shape& shape) {
  const std::int64_t parts = parts_of_keys(shape), rows = shape.heads() * parts;
  return parts == 1 ? 0 : round_up(rows * shape.v[3] * 4, 128) + 2 * round_up(rows * 4, 128) + 128;
}

std::int64_t forward_workspace(const Shape& shape) {
  if (shape.is_hopper()) return shape.q[2] != 1 ? 256 : one_query_workspace(shape);
  return shape.dropout ? shape.dropout_bits() + 128 : 0;
}

std::int64_t backward_workspace(const Shape& shape) {
  const auto& [card, q, k, v, dropout, queries_count] = shape;
  const std::int64_t rows = shape.heads() * q[2];
  const bool grouped = q[1] != k[1];
  std::int64_t bytes = rows * 4 + rows * q[3] * 4;
  if (grouped) bytes += round_up(2 * shape.heads() * k[2] * k[3], 128) + round_up(2 * shape.heads() * k[2] * v[3], 128);
  if (shape.is_hopper()) return bytes + 256;
  if (dropout) return bytes + shape.dropout_bits() + 128;
  const bool one_tile = k[2] <= 128 || (queries_count && q[2] > 1 && q[2] <= 128);
  if (one_tile) bytes += shape.heads() * round_up(q[2], 8) * q[3] * 4;
  return bytes + (one_tile || grouped ? 128 : 0);
}

Tensors backward_of_cudnn(Backward& call) {
  count_attention_backward(call);
  return needed(call, cudnn_attention_backward({call.gradient(), call.saved[0], call.saved[1], call.saved[2],
                                                call.saved[4], call.facts.a == 1}));
}

}  // namespace

AttentionResult cudnn_attention_forward(const AttentionInputs& in, bool with_log_sum_exp) {
  Run& run = in.q.run();
  const bool is_known = run.card().compute_capability_major == 9 && !with_log_sum_exp;
  if (in.q.size(2) == 1 && in.k.size(2) > 512 && !is_known)
    throw Error(Errc::unsupported,
                "[scaled_dot_product_attention] cuDNN's workspace for one query and over 512 keys on this card", "",
                "run the program itself with tidemark run");
  Tensor seed = empty(run, Dims{}, Dtype::int64), offset = empty(run, Dims{}, Dtype::int64);
  Dims sizes = in.q.sizes();
  sizes[-1] = in.v.size(-1);
  AttentionResult result{.output = empty(run, matching_layout(in.q.layout(), sizes), in.q.dtype())};
  if (with_log_sum_exp) result.log_sum_exp = empty(run, Dims{sizes[0], sizes[1], sizes[2], 1}, Dtype::f32);
  result.random_state = {std::move(seed), std::move(offset)};
  const Setting<Category> category(run.category, Category::workspace);
  const bool dropout = in.options.dropout != 0;
  const Shape shape{run.card(), in.q.sizes(), in.k.sizes(), in.v.sizes(), dropout, queries_count(run)};
  const Ref<Storage> workspace = run.allocate(forward_workspace(shape));
  return result;
}

std::array<Tensor, 3> cudnn_attention_backward(const AttentionGradient& call) {
  const Tensor &q = call.q, &k = call.k, &v = call.v;
  Run& run = q.run();
  std::array<Tensor, 3> gradients{empty_like(q), empty_like(k), empty_like(v)};
  // MHA.cpp, run_cudnn_SDP_bprop: innermost_dO_stride; permute_to_matching_layout of the result
  const Tensor laid_as_result = call.gradient.layout().strides[-1] != 1 ? empty_like(call.output) : Tensor();
  const Setting<Category> category(run.category, Category::workspace);
  const Shape shape{run.card(), q.sizes(), k.sizes(), v.sizes(), call.dropout, queries_count(run)};
  const Ref<Storage> workspace = run.allocate(backward_workspace(shape));
  return gradients;
}

/// Keeps q, k, v, the bias, the result, its logarithms of sums, seed and offset.
Tensor cudnn_attention(AttentionInputs in) {
  in.mask = attention_bias(std::move(in.mask), in.q.dtype());
  AttentionResult result = run_attention("_scaled_dot_product_cudnn_attention", in,
                                         [&] { return cudnn_attention_forward(in, attention_needs_grad(in)); });
  Tensors saved{in.q, in.k, in.v, in.mask, alias(result.output), result.log_sum_exp};
  for (Tensor& state : result.random_state) saved.push_back(std::move(state));
  const Facts facts{.a = in.options.dropout != 0 ? 1 : 0, .b = in.options.causal ? 1 : 0};
  return record(std::move(result.output), {in.q, in.k, in.v},
                {.name = "ScaledDotProductCudnnAttentionBackward0",
                 .saved = std::move(saved),
                 .facts = facts,
                 .backward = backward_of_cudnn});
}

}  // namespace tidemark
