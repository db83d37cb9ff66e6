// Memory-efficient attention (CUTLASS).  torch:
// aten/src/ATen/native/transformers/cuda/{attention.cu,attention_backward.cu}, _efficient_attention_forward and
// _backward; mem_eff_attention/kernel_{forward,backward}.h (2.11.0)
#include <algorithm>

#include "ops/attention.h"
#include "tensor/arithmetic.h"
#include "tensor/mismatch.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

/// The backward kernel that is launched: the first of dispatch_cutlassB's list that takes the head size and fits in
/// shared memory.  128 x 128 tiles, and 128 x 64 in float32, need more than the 99 KiB of sm_86, sm_89 and sm_12x.
struct BackwardKernel {
  std::int64_t queries, keys;  // kBlockSizeI, kBlockSizeJ
  bool in_registers;           // kOutputInRF
};

BackwardKernel backward_kernel(const Card& card, Dtype dtype, std::int64_t d, bool dropout) {
  const bool half = size_of(dtype) == 2;
  const std::int64_t sm = card.compute_capability_major * 10 + card.compute_capability_minor;
  const bool large = card.shared_memory_per_block_optin_bytes >= 128 << 10;
  if (d <= 64) return {64, 64, half};
  if (!half) return {sm >= 80 && large ? 128 : 64, 64, false};
  if (d > 128) return {128, 64, false};
  if (sm < 80) return {128, 64, true};
  if (d <= 96 && !dropout && (sm == 86 || sm == 89)) return {128, 64, true};
  return large ? BackwardKernel{128, 128, true} : BackwardKernel{64, 64, false};
}

/// torch: AttentionBackwardKernel::Params::workspace_size, and the choice of num_splits_key before it
std::int64_t workspace_bytes(const BackwardKernel& kernel, const Tensor& q, const Tensor& k, const Tensor& v) {
  const std::int64_t heads = q.size(0) * q.size(1), keys = k.size(2);
  const bool accumulates = size_of(q.dtype()) == 2 && !kernel.in_registers;  // kNeedsAccumGradK, kNeedsAccumGradV
  std::int64_t splits = heads >= 256 && keys <= 2 * kernel.keys ? 1 : ceil_div(keys, kernel.keys);
  if (accumulates) splits = std::min(splits, 200 / heads);
  splits = std::max<std::int64_t>(splits, 1);
  std::int64_t elements = 0;
  if (accumulates)
    elements = splits * kernel.keys * (round_up(q.size(3), kernel.queries) + round_up(v.size(3), kernel.queries));
  constexpr std::int64_t kLockAndCounter = 4;  // GradQTempStorage
  elements += ceil_div(q.size(2), kernel.queries) * ceil_div(q.size(3), kernel.keys) *
              (kLockAndCounter + kernel.queries * kernel.keys);
  return heads * round_up(elements, 4) * 4;
}

/// (dO * O) summed per row.  In half precision the kernel computes it; in float32 a product, its sum, and that with the
/// heads first.
Tensor delta_of(const Tensor& y) {
  Run& run = y.run();
  const std::int64_t b = y.size(0), h = y.size(1), s = y.size(2);
  if (size_of(y.dtype()) == 2) return empty(run, Dims{b, h, s}, Dtype::f32);
  Tensor product = empty(run, Dims{b, s, h, y.size(3)}, Dtype::f32);
  Tensor sum = plain_sum(product, Dims{0, 0, 0, 1}, false, Dtype::f32);
  return contiguous(transpose(std::move(sum), -2, -1));
}

/// torch: attention.cpp, pad_bias: rows of a multiple of 8 elements, of which those are shown that there are
Tensor padded_bias(Tensor bias) {
  if (!bias || bias.size(-1) % 8 == 0) return bias;
  const std::int64_t size = bias.size(-1);
  return slice(pad(std::move(bias), {0, round_up(size, 8) - size}), -1, 0, size);
}

/// Seed and offset of the dropout that there is not: with one they are numbers on the host.
Tensors random_state_of(const AttentionInputs& in) {
  Run& run = in.q.run();
  if (!run.torch().efficient_attention_has_random_state || in.options.dropout > 0) return {};
  Tensor seed = empty(run, Dims{}, Dtype::int64);
  return {std::move(seed), empty(run, Dims{}, Dtype::int64)};
}

/// Those of q, k and v, and of the bias where it needs one, whose rows are a multiple of 16.  torch: cuda/
/// attention_backward.cu, _efficient_attention_backward, below autograd, where what is shown otherwise is no view.
struct Gradients {
  std::array<Tensor, 3> inputs;
  Tensor bias = {};
};

Gradients gradients_of(const AttentionGradient& call, const Tensor& bias) {
  const Tensor &q = call.q, &k = call.k, &v = call.v;
  Run& run = q.run();
  const Tensor gradient = contiguous_with_heads_last(call.gradient);
  const auto new_rows = [&](const Tensor& x) {
    return sole_view(transpose(empty(run, with_heads_last(x.layout()).sizes, x.dtype()), 1, 2));
  };
  Gradients gradients{{new_rows(q), new_rows(k), new_rows(v)}};
  if (bias) {
    Dims sizes = bias.sizes();
    sizes[-1] = round_up(sizes[-1], 16);
    const Tensor padded = empty(run, sizes, bias.dtype());
    Layout shown = padded.layout();
    shown.sizes[-1] = bias.size(-1);
    gradients.bias = sole_view(view_of(padded, shown));
  }
  const Setting<Category> category(run.category, Category::workspace);
  const auto of_each_head = [&](const Tensor& x) {  // summed up for the heads that share one
    return x.size(1) == q.size(1) ? Tensor() : empty(run, Dims{x.size(0), x.size(2), q.size(1), x.size(3)}, x.dtype());
  };
  const Tensor grad_k = of_each_head(k), grad_v = of_each_head(v), delta = delta_of(call.output);
  const BackwardKernel kernel = backward_kernel(run.card(), q.dtype(), std::max(q.size(3), v.size(3)), call.dropout);
  const Ref<Storage> workspace = run.allocate(workspace_bytes(kernel, q, k, v));
  return gradients;
}

Tensors backward_of_efficient(Backward& call) {
  count_attention_backward(call);
  const bool has_bias = call.node.edges.size() > 3 && call.needs(3);
  Gradients gradients =
      gradients_of({call.gradient(), call.saved[0], call.saved[1], call.saved[2], call.saved[4], call.facts.a == 1},
                   has_bias ? call.saved[3] : Tensor());
  Tensors result = needed(call, std::move(gradients.inputs));
  if (call.node.edges.size() > 3) result.push_back(std::move(gradients.bias));
  return result;
}

}  // namespace

/// Rows of logarithms of sums are rounded up to 32.
AttentionResult efficient_attention_forward(const AttentionInputs& in, bool with_log_sum_exp) {
  Run& run = in.q.run();
  const Dims& q = in.q.sizes();
  Tensors random_state = random_state_of(in);
  AttentionResult result{.output = transpose(empty(run, Dims{q[0], q[2], q[1], in.v.size(3)}, in.q.dtype()), 1, 2)};
  result.random_state = std::move(random_state);
  if (with_log_sum_exp) result.log_sum_exp = empty(run, Dims{q[0], q[1], round_up(q[2], 32)}, Dtype::f32);
  if (size_of(in.q.dtype()) == 2 && std::max(q[3], in.v.size(3)) > 128) {  // kNeedsOutputAccumulatorBuffer
    const Setting<Category> category(run.category, Category::workspace);
    const Tensor accumulated = empty(run, Dims{q[0], q[2], q[1], in.v.size(3)}, Dtype::f32);
  }
  return result;
}

std::array<Tensor, 3> efficient_attention_backward(const AttentionGradient& call) {
  return gradients_of(call, {}).inputs;
}

/// Keeps q, k, v, the bias, the result, its logarithms of sums, and seed and offset.
Tensor efficient_attention(AttentionInputs in) {
  in.mask = attention_bias(std::move(in.mask), in.q.dtype());
  in.mask = padded_bias(std::move(in.mask));
  if (needs_grad(in.mask))
    in.mask = expand(std::move(in.mask), {in.q.size(0), in.q.size(1), in.q.size(2), in.k.size(2)});
  AttentionResult result = run_attention("_scaled_dot_product_efficient_attention", in,
                                         [&] { return efficient_attention_forward(in, attention_needs_grad(in)); });
  Tensors saved{in.q, in.k, in.v, in.mask, alias(result.output), result.log_sum_exp};
  for (Tensor& state : result.random_state) saved.push_back(std::move(state));
  const Facts facts{.a = in.options.dropout > 0 ? 1 : 0, .b = in.options.causal ? 1 : 0};
  Tensors inputs{in.q, in.k, in.v};
  if (needs_grad(in.mask)) inputs.push_back(in.mask);
  return record(std::move(result.output), std::move(inputs),
                {.name = "ScaledDotProductEfficientAttentionBackward0",
                 .saved = std::move(saved),
                 .facts = facts,
                 .backward = backward_of_efficient});
}

}  // namespace tidemark
