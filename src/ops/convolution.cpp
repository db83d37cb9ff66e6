// torch: aten/src/ATen/native/Convolution.cpp, cudnn/Conv_v8.cpp, run_single_conv, cuda/DepthwiseConv2d.cu (2.11.0)
#include "ops/convolution.h"

#include "ops/convolution_scratch.h"
#include "ops/memory_format.h"
#include "ops/scratch.h"

namespace tidemark {
namespace {

/// The forward pass and either gradient: for each element of the output a sum over one filter.
void count(const Tensor& output, const Tensor& weight) {
  if (Work* work = output.run().counted())
    work->add_product(output.dtype(), static_cast<double>(output.elements()) / static_cast<double>(output.size(1)),
                      static_cast<double>(output.size(1)),
                      static_cast<double>(weight.elements()) / static_cast<double>(weight.size(0)),
                      output.run().computes_backward());
}

/// Of every dimension but the channels.
Tensor bias_gradient(const Tensor& gradient) {
  return plain_sum(gradient, every_dimension_but(gradient, 1), false, gradient.dtype());
}

/// In which order cuDNN gets a convolution's tensors: with channels last where those of one of them are.  torch:
/// native/ConvUtils.h, cudnn_conv_suggest_memory_format
class Order {
 public:
  Order(const Tensor& x, const Tensor& weight, bool is_depthwise)
      : last_(!is_depthwise && x.dims() == 4 && (is_channels_last(x.layout()) || is_channels_last(weight.layout()))) {}

  Layout layout(const Dims& sizes) const { return layout_of(sizes, last_); }
  bool has(const Tensor& tensor) const {
    return last_ ? is_contiguous_channels_last(tensor.layout()) : tensor.is_contiguous();
  }
  bool is_last() const { return last_; }
  /// A gradient is copied also where sizes of 1 leave it open how it lies (recorded of 2.11.0).
  Tensor copy_of_gradient(const Tensor& gradient) const {
    const bool is_clear = has(gradient) && (!last_ || is_channels_last(gradient.layout()));
    return is_clear ? gradient : empty(gradient.run(), layout(gradient.sizes()), gradient.dtype());
  }
  /// None where it lies so already.
  Tensor copy(const Tensor& tensor) const {
    return has(tensor) ? Tensor() : empty(tensor.run(), layout(tensor.sizes()), tensor.dtype());
  }

 private:
  bool last_;
};

/// Whether `grad_output.to(input.suggest_memory_format())` leaves a gradient as it is, whose strides are of that order
/// but not close to each other: the input's gradient and the weight's put it in order each.  torch:
/// native/cudnn/ConvShared.cpp, cudnn_convolution_backward (2.11.0)
bool is_copied_for_each(const Order& order, const Tensor& x, const Tensor& gradient) {
  const bool last = is_channels_last(x.layout());
  return gradient.dims() == 4 && last == order.is_last() && last == is_channels_last(gradient.layout()) &&
         !order.has(gradient);
}

/// cudnn_convolution_backward: of the input, then of the weight; conv_depthwise2d_backward: the other way round.
Tensors convolution_backward(Backward& call) {
  const Tensor &x = call.saved[0], &weight = call.saved[1];
  const bool depthwise = call.facts.c != 0;
  const Order order(x, weight, depthwise);
  const bool is_row = x.dims() == 3;  // which is put in order also where the weight does not train (Convolution.cpp)
  // Convolution.cpp, convolution_backward: input.contiguous() among the arguments of cuDNN's
  Tensor in_order = is_row || (call.needs(1) && !depthwise) ? order.copy(x) : Tensor();
  const bool each = !depthwise && is_copied_for_each(order, x, call.gradient());
  Tensor gradient = each ? call.gradient() : Tensor();
  if (!each && (call.needs(0) || call.needs(1))) gradient = order.copy_of_gradient(call.gradient());
  if (call.needs(1) && depthwise && !is_row) in_order = order.copy(x);
  Tensor gradients[2];
  for (const std::size_t i : {std::size_t{depthwise ? 1U : 0U}, std::size_t{depthwise ? 0U : 1U}}) {
    if (!call.needs(i)) continue;
    Tensor own = each && i == 1 ? order.copy(gradient) : Tensor();
    gradients[i] = empty(call.run, order.layout((i == 0 ? x : weight).sizes()), gradient.dtype());
    const Tensor weight_in_order = i == 0 ? order.copy(weight) : Tensor();
    if (each && i == 0) own = order.copy(gradient);
    count(gradient, weight);
    take_scratch(call.run, i == 0 ? call.facts.a : call.facts.b);
    if (depthwise && !is_row) in_order.reset();  // DepthwiseConv2d.cu, conv_depthwise2d_grad_weight_out: its own
  }
  gradient.reset();
  if (!is_row) in_order.reset();
  return {gradients[0], gradients[1], call.needs(2) ? bias_gradient(call.gradient()) : Tensor()};
}

Dims output_sizes(const Tensor& x, const Tensor& weight, const ConvolutionShape& shape) {
  Dims sizes = x.sizes();
  sizes[1] = weight.size(shape.transposed ? 1 : 0);
  for (int d = 0; d < weight.dims() - 2; ++d) {
    const std::int64_t reach = shape.dilation[d] * (weight.size(d + 2) - 1) + 1, around = 2 * shape.padding[d];
    sizes[d + 2] = shape.transposed ? (x.size(d + 2) - 1) * shape.stride[d] - around + reach + shape.output_padding[d]
                                    : (x.size(d + 2) + around - reach) / shape.stride[d] + 1;
  }
  return sizes;
}

}  // namespace

/// Keeps x and the weight.
Tensor convolution(Tensor x, Tensor weight, Tensor bias, const ConvolutionShape& shape) {
  constexpr const char* kNames[] = {"aten::conv1d", "aten::conv2d", "aten::conv3d"};
  const int dims = weight.dims() - 2;
  TM_CHECK(dims >= 1 && dims <= 3 && x.dims() == weight.dims(), "a convolution of one to three dimensions");
  TM_CHECK(!shape.transposed || shape.groups == 1, "a transposed convolution in groups");
  const Op op(x, shape.transposed ? "aten::conv_transpose" : kNames[dims - 1]);
  bias = autocast_low(std::move(bias));
  weight = autocast_low(std::move(weight));
  x = autocast_low(std::move(x));
  const Dims sizes = output_sizes(x, weight, shape);
  const Order order(x, weight, is_depthwise(x, weight, shape));
  const ConvolutionScratch scratch = convolution_scratch(x, weight, shape, order.is_last());
  const auto computed = [&] {
    const Tensor in_order = order.copy(x);
    Tensor y = empty(x.run(), order.layout(sizes), x.dtype());
    const Tensor weight_in_order = order.copy(weight);
    count(shape.transposed ? x : y, weight);
    take_scratch(x.run(), scratch.forward_bytes);
    return y;
  };
  Tensor y = computed();
  Tensors saved{x, weight};
  const Facts facts{.a = scratch.input_bytes, .b = scratch.backward_bytes, .c = is_depthwise(x, weight, shape) ? 1 : 0};
  return record(
      std::move(y), {std::move(x), std::move(weight), std::move(bias)},
      {.name = "ConvolutionBackward0", .saved = std::move(saved), .facts = facts, .backward = convolution_backward});
}

}  // namespace tidemark
