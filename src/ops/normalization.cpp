// torch: aten/src/ATen/native/cuda/layer_norm_kernel.cu; torch/nn/functional.py, normalize (2.11.0)
#include "ops/normalization.h"

#include "ops/ops.h"
#include "ops/pointwise.h"
#include "tensor/kernel.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

/// Partial sums over rows when there are many rows of few columns.  torch: LaunchGammaBetaBackwardCUDAKernel
Tensor gamma_beta_blocks(Run& run, std::int64_t rows, std::int64_t columns, Dtype dtype) {
  constexpr std::int64_t kWidth = 32, kRowsPerBlock = 32, kMostRows = 64 * 1024, kMostBlocks = 64 * 1024 / 2;
  if (rows <= kMostRows || columns / kWidth >= run.card().multiprocessors / 2) return {};
  const std::int64_t across = (columns + kWidth - 1) / kWidth;
  const std::int64_t down = std::min(kMostBlocks / across, (rows + kRowsPerBlock - 1) / kRowsPerBlock);
  return empty(run, Dims{down, columns}, dtype);
}

Tensors layer_norm_backward(Backward& call) {
  const Tensor &x = call.saved[0], &weight = call.saved[1];
  const Tensor contiguous_x = contiguous(x);
  Tensor input = call.needs(0) ? empty(call.run, x.sizes(), x.dtype()) : Tensor();
  Tensor gamma = call.needs(1) ? empty_like(weight) : Tensor();
  Tensor beta = call.needs(2) ? empty_like(weight) : Tensor();
  const Tensor gradient = contiguous(call.gradient());
  if (gamma || beta) {
    const std::int64_t columns = x.size(-1), rows = x.elements() / columns;
    const Tensor gamma_blocks = gamma ? gamma_beta_blocks(call.run, rows, columns, weight.dtype()) : Tensor();
    const Tensor beta_blocks = beta ? gamma_beta_blocks(call.run, rows, columns, weight.dtype()) : Tensor();
    if (gamma_blocks) gamma = plain_sum(gamma_blocks, Dims{1, 0}, false, weight.dtype());
    if (beta_blocks) beta = plain_sum(beta_blocks, Dims{1, 0}, false, weight.dtype());
  }
  return {std::move(input), std::move(gamma), std::move(beta)};
}

Tensors rms_norm_backward(Backward& call) {
  const Tensor &x = call.saved[0], &weight = call.saved[1];
  const Tensor contiguous_x = contiguous(x);
  Tensor input = call.needs(0) ? empty(call.run, x.sizes(), x.dtype()) : Tensor();
  Tensor gamma = call.needs(1) ? empty_like(weight) : Tensor();
  const Tensor gradient = contiguous(call.gradient());
  if (gamma) {
    const std::int64_t columns = x.size(-1), rows = x.elements() / columns;
    const Tensor blocks = gamma_beta_blocks(call.run, rows, columns, weight.dtype());
    if (blocks) gamma = plain_sum(blocks, Dims{1, 0}, false, weight.dtype());
  }
  return {std::move(input), std::move(gamma)};
}

/// Whether autocast runs it in float32.
bool is_widened(const Run& run) { return run.autocast.enabled && run.torch().rms_norm_is_widened; }

}  // namespace

bool is_rms_norm_fused(const Tensor& x, const Tensor& weight) {
  return !weight || weight.dtype() == x.dtype() || is_widened(x.run());
}

/// Keeps x, weight and rstd (float32, one per row).
Tensor rms_norm(Tensor x, Tensor weight) {
  const Op op(x, "aten::rms_norm");
  const Tensor arguments[] = {x, weight};
  if (is_widened(x.run())) {
    weight = autocast_f32(std::move(weight));
    x = autocast_f32(std::move(x));
  }
  Kernel kernel(x.run(), "_fused_rms_norm");
  const Tensor copy = x.is_contiguous() ? Tensor() : empty(x.run(), x.sizes(), x.dtype());
  Dims rows = x.sizes();
  rows[-1] = 1;
  Tensor y = empty(x.run(), x.sizes(), x.dtype());
  Tensor rstd = empty(x.run(), rows, size_of(x.dtype()) < 4 ? Dtype::f32 : x.dtype());
  kernel.gives({&y, &rstd});
  Tensors saved{x, weight, std::move(rstd)};
  return record(std::move(y), {std::move(x), std::move(weight)},
                {.name = "FusedRmsNormBackward0", .saved = std::move(saved), .backward = rms_norm_backward});
}

/// Over the last dimension.  Keeps x, weight, bias, mean and rstd (float32, one per row).
Tensor layer_norm(Tensor x, Tensor weight, Tensor bias) {
  const Op op(x, "aten::layer_norm");
  const Tensor arguments[] = {x, weight, bias};
  bias = autocast_f32(std::move(bias));
  weight = autocast_f32(std::move(weight));
  x = autocast_f32(std::move(x));
  Kernel kernel(x.run(), "native_layer_norm");
  const Tensor copy = x.is_contiguous() ? Tensor() : empty(x.run(), x.sizes(), x.dtype());
  Dims rows = x.sizes();
  rows[-1] = 1;
  const Dtype accumulate = size_of(x.dtype()) < 4 ? Dtype::f32 : x.dtype();
  Tensor y = empty(x.run(), x.sizes(), x.dtype());
  Tensor mean = empty(x.run(), rows, accumulate);
  Tensor rstd = empty(x.run(), rows, accumulate);
  kernel.gives({&y, &mean, &rstd});
  Tensors saved{x, weight, bias, std::move(mean), std::move(rstd)};
  return record(std::move(y), {std::move(x), std::move(weight), std::move(bias)},
                {.name = "NativeLayerNormBackward0", .saved = std::move(saved), .backward = layer_norm_backward});
}

/// x / x.norm(2, d, keepdim=True).clamp_min(eps).expand_as(x)
Tensor normalize(Tensor x, int d) {
  Tensor norm = clamp_from(linalg_vector_norm(x, 2, Dims{d}, true));
  norm = expand(std::move(norm), x.sizes());
  return div(std::move(x), std::move(norm));
}

}  // namespace tidemark
