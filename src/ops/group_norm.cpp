// torch: aten/src/ATen/native/group_norm.cpp, group_norm, native_group_norm and native_group_norm_backward;
// cuda/group_norm_kernel.cu (2.11.0, 2.15.0)
#include "ops/memory_format.h"
#include "ops/normalization.h"
#include "ops/ops.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

Dtype accumulated(Dtype dtype) { return size_of(dtype) < 4 ? Dtype::f32 : dtype; }

/// Whether a channel has one element, for which there are kernels of their own.
bool is_flat(const Tensor& x) { return x.elements() == x.size(0) * x.size(1); }

bool has_newer_kernels(const Tensor& x) { return x.run().torch().group_norm_has_newer_kernels; }

bool leaves_channels_last(const Tensor& x) {
  return has_newer_kernels(x) && x.dims() == 4 && is_channels_last(x.layout());
}

/// torch.Tensor.contiguous(memory_format=…)
Tensor in_order(Tensor x, bool channels_last) {
  if (!channels_last) return contiguous(std::move(x));
  return is_contiguous_channels_last(x.layout()) ? x : empty(x.run(), layout_of(x.sizes(), true), x.dtype());
}

/// torch: GroupNormBackwardKernelImplInternal, GroupNorm1dBackward
void take_sums(const Tensor& x, const Tensor& weight, std::int64_t groups, bool of_input) {
  const Dims channels{x.size(0), x.size(1)}, each_group{x.size(0), groups};
  const Dtype dtype = accumulated(x.dtype());
  const auto sum = [&](const Dims& sizes, bool is_needed) {
    return is_needed ? empty(x.run(), sizes, dtype) : Tensor();
  };
  const bool of_channels = !is_flat(x) || !has_newer_kernels(x);
  const Tensor products = sum(channels, of_channels), gradients = sum(channels, of_channels);
  const Tensor second = sum(each_group, of_input), third = sum(each_group, of_input);
  const Tensor first = sum(channels, of_input && !is_flat(x) && weight && !leaves_channels_last(x));
}

Tensors group_norm_backward(Backward& call) {
  const Tensor &x = call.saved[0], &weight = call.saved[1];
  const Tensor gradient = in_order(call.gradient(), leaves_channels_last(x));
  Tensor input = call.needs(0) ? empty_like(x) : Tensor();
  Tensor gamma = call.needs(1) ? empty_like(weight) : Tensor();
  Tensor beta = call.needs(2) ? empty_like(weight) : Tensor();
  take_sums(x, weight, call.facts.a, call.needs(0));
  return {std::move(input), std::move(gamma), std::move(beta)};
}

}  // namespace

/// Keeps x, weight, mean and rstd (of x's type, one per group).
Tensor group_norm(Tensor x, std::int64_t groups, Tensor weight, Tensor bias) {
  const Op op(x, "aten::group_norm");
  const Tensor arguments[] = {x, weight, bias};
  bias = autocast_f32(std::move(bias));
  weight = autocast_f32(std::move(weight));
  x = autocast_f32(std::move(x));
  const bool channels_last = leaves_channels_last(x);
  x = in_order(std::move(x), channels_last);
  Run& run = x.run();
  const Dims each_group{x.size(0), groups}, channels{x.size(0), x.size(1)};
  Tensor y = empty_like(x);
  Tensor mean = empty(run, each_group, x.dtype()), rstd = empty(run, each_group, x.dtype());
  {
    const Dtype dtype = accumulated(x.dtype());
    const bool finds_wide = dtype != x.dtype() && has_newer_kernels(x);
    const Tensor wide_mean = finds_wide ? empty(run, each_group, dtype) : Tensor();
    const Tensor wide_rstd = finds_wide ? empty(run, each_group, dtype) : Tensor();
    const bool scales = !is_flat(x) && (weight || bias);
    const Tensor factors = scales ? empty(run, channels, dtype) : Tensor();
    const Tensor summands = scales ? empty(run, channels, dtype) : Tensor();
  }
  Tensors saved{x, weight, std::move(mean), std::move(rstd)};
  const Facts facts{.a = groups};
  return record(
      std::move(y), {std::move(x), std::move(weight), std::move(bias)},
      {.name = "NativeGroupNormBackward0", .saved = std::move(saved), .facts = facts, .backward = group_norm_backward});
}

}  // namespace tidemark
