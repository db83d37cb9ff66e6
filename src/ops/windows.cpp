// torch: aten/src/ATen/native/cuda: AveragePool2d.cu, AdaptiveAveragePooling.cu, DilatedMaxPool2d.cu, Im2Col.cu,
// GridSampler.cu, UpSample*.cu (2.11.0)
#include "ops/windows.h"

#include "ops/memory_format.h"
#include "ops/ops.h"

namespace tidemark {
namespace {

Tensor output(const Tensor& x, const Dims& sizes) { return empty(x.run(), sizes, x.dtype()); }

/// What is not contiguous is copied behind the result, for as long as the kernel is launched.  torch: Im2Col.cu,
/// im2col_out_cuda_template; Col2Im.cu, col2im_out_cuda_template
void copy_if_bent(const Tensor& x) {
  if (!x.is_contiguous()) output(x, x.sizes());
}

/// One result of the input's sizes.
Tensors input_gradient(Backward& call) { return {empty(call.run, call.facts.sizes, call.gradient().dtype())}; }

Tensors gradient_in_order(Backward& call) {
  Tensors result = input_gradient(call);
  copy_if_bent(call.gradient());
  return result;
}

}  // namespace

/// Keeps its input; its channels stay last where they are.  torch: AveragePool2d.cu, avg_pool2d_out_cuda,
/// avg_pool2d_backward_out_cuda
Tensor average_pool(Tensor x, const Dims& sizes) {
  const Op op(x, "aten::avg_pool2d");
  Tensor y = empty(x.run(), layout_like(x, sizes), x.dtype());
  Tensors saved{x};
  return record(std::move(y), {std::move(x)},
                {.name = "AvgPool2DBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   const Tensor &input = call.saved[0], gradient = call.gradient();
                   const bool copies = is_channels_last(input.layout()) || !gradient.is_contiguous();
                   Tensor result = empty(call.run, layout_like(input, input.sizes()), gradient.dtype());
                   const Tensor in_order = copies ? output(gradient, gradient.sizes()) : Tensor();
                   return {std::move(result)};
                 }});
}

namespace {

/// x.contiguous(memory_format): a copy of what does not lie so; else none.
Tensor copy_as(const Tensor& x, bool channels_last) {
  const bool lies_so = channels_last ? is_contiguous_channels_last(x.layout()) : x.is_contiguous();
  return lies_so ? Tensor() : empty(x.run(), layout_of(x.sizes(), channels_last), x.dtype());
}

}  // namespace

/// Keeps its input, but where it is a mean; its channels stay last where they are.  torch:
/// native/AdaptiveAveragePooling.cpp, adaptive_avg_pool2d_symint; cuda/AdaptiveAveragePooling.cu
Tensor adaptive_average_pool(Tensor x, std::int64_t height, std::int64_t width) {
  const Op op(x, "aten::adaptive_avg_pool2d");
  if (height == 1 && width == 1) return mean(std::move(x), Dims{-1, -2}, true);
  Dims sizes = x.sizes();
  sizes[-2] = height;
  sizes[-1] = width;
  const bool channels_last = is_channels_last(x.layout());
  const Tensor copy = channels_last || x.dims() == 3 ? Tensor() : copy_as(x, false);
  Tensor y = empty(x.run(), layout_of(sizes, channels_last), x.dtype());
  Tensors saved{x};
  return record(
      std::move(y), {std::move(x)},
      {.name = "AdaptiveAvgPool2DBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
         const Tensor& input = call.saved[0];
         const bool is_last = is_channels_last(input.layout());
         Tensor gradient = empty(call.run, layout_of(input.sizes(), is_last), input.dtype());
         const Tensor in_order = is_last ? Tensor() : contiguous(call.gradient());
         return {std::move(gradient)};
       }});
}

/// Keeps its input and where the largest are; all lies as the input does.  torch: DilatedMaxPool2d.cu,
/// max_pool2d_with_indices_out_cuda, max_pool2d_with_indices_backward_out_cuda
Tensor max_pool(Tensor x, const Dims& sizes) {
  const Op op(x, "aten::max_pool2d");
  const bool channels_last = is_channels_last(x.layout());
  Tensor y = empty(x.run(), layout_of(sizes, channels_last), x.dtype());
  Tensor places = empty(x.run(), layout_of(sizes, channels_last), Dtype::int64);
  copy_as(x, channels_last);
  Tensors saved{x, std::move(places)};
  return record(
      std::move(y), {std::move(x)},
      {.name = "MaxPool2DWithIndicesBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
         const Tensor& input = call.saved[0];
         const bool is_last = is_channels_last(input.layout());
         Tensor gradient = empty(call.run, layout_of(input.sizes(), is_last), input.dtype());
         const Tensor copy = copy_as(input, is_last), in_order = copy_as(call.gradient(), is_last);
         return {std::move(gradient)};
       }});
}

Tensor unfold_windows(Tensor x, const Dims& sizes) {
  const Op op(x, "aten::im2col");
  Tensor y = output(x, sizes);
  copy_if_bent(x);
  const Facts facts{.sizes = x.sizes()};
  return record(std::move(y), {std::move(x)},
                {.name = "Im2ColBackward0", .facts = facts, .backward = [](Backward& call) -> Tensors {
                   Tensor gradient = output(call.gradient(), call.facts.sizes);
                   copy_if_bent(call.gradient());
                   return {std::move(gradient)};
                 }});
}

/// Keeps both.
Tensor grid_sample(Tensor x, Tensor grid) {
  const Op op(x, "aten::grid_sampler");
  Dims sizes = x.sizes();
  for (int d = 2; d < sizes.count(); ++d) sizes[d] = grid.size(d - 1);
  Tensor y = output(x, sizes);
  Tensors saved{x, grid};
  return record(
      std::move(y), {std::move(x), std::move(grid)},
      {.name = "GridSampler2DBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
         Tensor input = call.needs(0) ? output(call.saved[0], call.saved[0].sizes()) : Tensor();
         Tensor grid_gradient = output(call.saved[1], call.saved[1].sizes());
         return {input, call.needs(1) ? grid_gradient : Tensor()};
       }});
}

namespace {

/// Fewer are read in order where they are last, and the result is made in order first.
constexpr std::int64_t kFewestChannelsLast = 4;

void go_in_order(const Tensor& result, const Tensor& x) {
  const Tensor in_order = result.is_contiguous() ? Tensor() : output(result, result.sizes());
  copy_if_bent(x);
}

/// What lies with its channels last stays so, but for cubes.  torch: UpSampleNearest2d.cu and UpSampleBilinear2d.cu,
/// upsample_*_backward_out_cuda_template; UpSampleBicubic2d.cu, which takes what is in order
Tensors spread_back(Backward& call) {
  const Tensor& gradient = call.gradient();
  const bool channels_last = call.facts.a != 0 && is_channels_last(gradient.layout());
  Tensor result = empty(call.run, layout_of(call.facts.sizes, channels_last), gradient.dtype());
  if (!channels_last || result.size(1) < kFewestChannelsLast)
    go_in_order(result, gradient);
  else if (!is_contiguous_channels_last(gradient.layout()))
    output(gradient, gradient.sizes());
  return {std::move(result)};
}

}  // namespace

/// With antialiasing, of rows, and of the nearest, the kernel takes what is in order.  torch: UpSampleBilinear2d.cu,
/// upsample_gen2d_aa_out_cuda_template, upsample_gen2d_aa_backward_out_cuda_template; UpSampleLinear1d.cu,
/// upsample_linear1d_backward_out_cuda_template; UpSampleNearest2d.cu, upsample_nearest2d_out_cuda_template
Tensor upsample(Tensor x, const Dims& sizes, std::string_view mode, bool antialias) {
  const Op op(x, "aten::upsample");
  const Tensor argument = x;
  x = autocast_f32(std::move(x));
  const bool in_order = antialias || x.dims() == 3;
  const bool channels_last = !in_order && x.dims() == 4 && is_channels_last(x.layout());
  Tensor y = empty(x.run(), layout_of(sizes, channels_last), x.dtype());
  if (antialias || (mode == "nearest" && !(channels_last && x.size(1) >= kFewestChannelsLast))) go_in_order(y, x);
  const Facts facts{.sizes = x.sizes(), .a = mode != "bicubic" ? 1 : 0};
  return record(std::move(y), {std::move(x)},
                {.name = "UpsampleBackward0", .facts = facts, .backward = in_order ? gradient_in_order : spread_back});
}

}  // namespace tidemark
