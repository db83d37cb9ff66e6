// torch: aten/src/ATen/native/Normalization.cpp, _batch_norm_impl_index and _select_batch_norm_backend;
// cudnn/BatchNorm.cpp; cuda/Normalization.cu, cuda/Normalization.cuh (2.11.0)
#include <algorithm>
#include <limits>

#include "ops/memory_format.h"
#include "ops/normalization.h"
#include "ops/ops.h"
#include "tensor/arithmetic.h"

namespace tidemark {
namespace {

/// Which kernels torch's own implementation takes.  torch: Normalization.cu, batch_norm_choose_impl
enum class Kernels { contiguous, channels_last, general };

Kernels kernels_of(const Tensor& x) {
  const std::int64_t of_channels = x.layout().strides[1];
  if (x.is_contiguous()) return of_channels == 1 ? Kernels::channels_last : Kernels::contiguous;
  return is_contiguous_channels_last(x.layout()) ? Kernels::channels_last : Kernels::general;
}

/// torch: batch_norm_use_channels_last_kernels
bool has_channels_last_kernels(const Tensor& x) {
  return is_contiguous_channels_last(x.layout()) || (x.is_contiguous() && x.layout().strides[1] == 1);
}

std::int64_t last_pow2(std::int64_t n) {
  std::int64_t power = 1;
  while (power * 2 <= n) power *= 2;
  return power;
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// What the blocks of a channels-last reduction share, where there are several over the rows: `numbers` of each channel
/// and block, and semaphores.  torch: Normalization.cuh, flexible_launch_configs
void take_staging(const Tensor& x, std::int64_t numbers, Dtype accumulate) {
  constexpr std::int64_t kTileWidth = 32, kMostThreads = 512, kRowsPerThread = 16, kMostBlocks = 128, kLeastBlocks = 8;
  const std::int64_t channels = x.size(1), rows = x.elements() / channels;
  std::int64_t across = std::min(last_pow2(channels), kTileWidth);
  const std::int64_t down = std::min(last_pow2(ceil_div(rows, kRowsPerThread)), kMostThreads / across);
  if (across * down != kMostThreads) across = std::min(last_pow2(channels), kMostThreads / down);
  const std::int64_t blocks = std::min(ceil_div(rows, down * kRowsPerThread), kMostBlocks);
  if (blocks < kLeastBlocks) return;
  const Setting<Category> category(x.run().category, Category::workspace);
  const Tensor staging = empty(x.run(), Dims{numbers * channels * blocks}, accumulate);
  const Tensor semaphores = empty(x.run(), Dims{ceil_div(channels, across)}, Dtype::int32);
}

/// Means and variances of channels in no order: of bfloat16 in a copy of more precision, and what blocks of the
/// reduction share, four numbers for each sum.  torch: ReduceOps.cpp, std_var_mean_out; cuda/ReduceMomentKernel.cu,
/// WelfordData
void take_moments(const Tensor& x) {
  const Setting<Category> category(x.run().category, Category::workspace);
  const Tensor precise = x.dtype() == Dtype::bf16 ? empty_like(x, Dtype::f32) : x;
  use_reduction_scratch(precise, every_dimension_but(precise, 1), precise.dtype(), 4);
}

Dims merged(const Tensor& x) { return {x.size(0), x.size(1), x.elements() / (x.size(0) * x.size(1))}; }

/// The sums that the gradients are made of, then the gradient of the input from those: two kernels.
Tensors backward_in_two(Backward& call) {
  const Tensor &x = call.saved[0], &weight = call.saved[1], &mean = call.saved[4], &gradient = call.gradient();
  const bool last = has_channels_last_kernels(x) && has_channels_last_kernels(gradient);
  Tensor gamma, beta, input;
  {
    const Tensor merged_x = last ? Tensor() : reshape(x, merged(x));
    const Tensor merged_gradient = last ? Tensor() : reshape(gradient, merged(x));
    const Tensor sum = last || call.needs(0) ? empty_like(mean) : Tensor();
    const Tensor sum_of_products = last || call.needs(0) ? empty_like(mean) : Tensor();
    if (last ? static_cast<bool>(weight) : call.needs(1)) gamma = empty_like(weight);
    if (last ? static_cast<bool>(weight) : call.needs(2)) beta = empty_like(weight);
    if (last) take_staging(x, 2, mean.dtype());
    if (call.needs(0)) input = last ? empty_like(x) : empty(call.run, x.sizes(), gradient.dtype());
  }
  return {std::move(input), call.needs(1) ? gamma : Tensor(), call.needs(2) ? beta : Tensor()};
}

/// torch: Normalization.cu, batch_norm_backward_cuda; Normalization.cuh, batch_norm_backward_cuda_template
Tensors native_backward(Backward& call) {
  const Tensor &x = call.saved[0], &weight = call.saved[1];
  if (!call.needs(0) || has_channels_last_kernels(x)) return backward_in_two(call);
  const Tensor merged_x = reshape(x, merged(x)), merged_gradient = reshape(call.gradient(), merged(x));
  Tensor input = empty(call.run, x.sizes(), x.dtype());
  Tensor gamma = call.needs(1) ? empty_like(weight) : Tensor();
  Tensor beta = call.needs(2) ? empty_like(weight) : Tensor();
  return {std::move(input), std::move(gamma), std::move(beta)};
}

/// What both keep; mean and inverse deviation are those of this batch, one per channel.
Tensors kept(const Tensor& x, const BatchNormParameters& parameters, Dtype statistics) {
  Tensor mean = empty(x.run(), Dims{x.size(1)}, statistics), rstd = empty(x.run(), Dims{x.size(1)}, statistics);
  return {x, parameters.weight, parameters.running_mean, parameters.running_variance, std::move(mean), std::move(rstd)};
}

Tensor native_batch_norm(Tensor x, BatchNormParameters parameters) {
  const Dtype accumulate = size_of(x.dtype()) < 4 ? Dtype::f32 : x.dtype();
  Tensor y = empty_like(x);
  Tensors saved = kept(x, parameters, accumulate);
  if (kernels_of(x) == Kernels::channels_last) take_staging(x, 4, accumulate);
  if (kernels_of(x) == Kernels::general) take_moments(x);
  return record(std::move(y), {std::move(x), std::move(parameters.weight), std::move(parameters.bias)},
                {.name = "NativeBatchNormBackward0", .saved = std::move(saved), .backward = native_backward});
}

/// cuDNN has neither workspace nor reserve space in its modes for contiguous tensors (tests/oracle/test_cudnn.py).
/// torch: cudnn/BatchNorm.cpp, getCudnnBatchNormMode
Tensors cudnn_backward(Backward& call) {
  const Tensor &x = call.saved[0], &weight = call.saved[1];
  const Tensor gradient = contiguous(call.gradient());
  Tensor input = empty(call.run, x.sizes(), x.dtype());
  Tensor gamma = empty_like(weight), beta = empty_like(weight);
  return {call.needs(0) ? input : Tensor(), call.needs(1) ? gamma : Tensor(), call.needs(2) ? beta : Tensor()};
}

Tensor cudnn_batch_norm(Tensor x, BatchNormParameters parameters) {
  x = contiguous(std::move(x));
  Tensor y = empty(x.run(), x.sizes(), x.dtype());
  Tensors saved = kept(x, parameters, parameters.weight.dtype());
  return record(std::move(y), {std::move(x), std::move(parameters.weight), std::move(parameters.bias)},
                {.name = "CudnnBatchNormBackward0", .saved = std::move(saved), .backward = cudnn_backward});
}

/// torch: Normalization.cpp, _select_batch_norm_backend, in training
bool takes_cudnn(const Tensor& x, const BatchNormParameters& parameters) {
  const Tensor& weight = parameters.weight;
  if (!weight || !parameters.bias || x.dtype() == Dtype::bf16 || weight.dtype() == Dtype::bf16) return false;
  if (x.dtype() == Dtype::f16 && weight.dtype() != Dtype::f32) return false;
  constexpr std::int64_t kMostSamples = 880'801;
  return x.dims() >= 3 && x.size(0) <= kMostSamples && x.elements() < std::numeric_limits<std::int32_t>::max();
}

}  // namespace

/// cuDNN's scratch memory for channels that are last is not known.
bool is_batch_norm_known(const Tensor& x, const BatchNormParameters& parameters) {
  return !takes_cudnn(x, parameters) || !is_channels_last(x.layout());
}

Tensor batch_norm(Tensor x, BatchNormParameters parameters) {
  const Op op(x, "aten::batch_norm");
  TM_CHECK(is_batch_norm_known(x, parameters), "a layout that batch_norm is not known of");
  const bool by_cudnn = takes_cudnn(x, parameters);
  return by_cudnn ? cudnn_batch_norm(std::move(x), std::move(parameters))
                  : native_batch_norm(std::move(x), std::move(parameters));
}

}  // namespace tidemark
