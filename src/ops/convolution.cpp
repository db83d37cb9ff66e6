// Patch embeddings: convolutions whose stride is their kernel.  torch: aten/src/ATen/native/Convolution.cpp,
// cudnn/Conv_v8.cpp, run_single_conv (2.11.0)
#include "ops/convolution_scratch.h"
#include "ops/ops.h"

namespace tidemark {
namespace {

/// cuDNN's scratch memory, for as long as the kernel is launched.
void take_scratch(Run& run, std::int64_t bytes) {
  const Setting<Category> category(run.category, Category::workspace);
  const Ref<Storage> scratch = run.allocate(bytes);
}

Tensor weight_gradient(Backward& call) {
  const Tensor gradient = contiguous(call.gradient());
  Tensor weight = empty(call.run, call.saved[1].sizes(), gradient.dtype());
  take_scratch(call.run, convolution_scratch(call.saved[0], call.saved[1]).backward_bytes);
  return weight;
}

/// Of every dimension but the channels.
Tensor bias_gradient(const Tensor& gradient) {
  Dims reduced = gradient.sizes();
  for (int d = 0; d < reduced.count(); ++d) reduced[d] = d == 1 ? 0 : 1;
  return plain_sum(gradient, reduced, false, gradient.dtype());
}

}  // namespace

/// Keeps x and the weight.  No gradient goes to the image.
Tensor patch_convolution(Tensor x, Tensor weight, Tensor bias) {
  const Op op(x, weight.dims() == 4 ? "aten::conv2d" : "aten::conv3d");
  TM_CHECK(!x.requires_grad(), "an image has no gradient");
  bias = autocast_low(std::move(bias));
  weight = autocast_low(std::move(weight));
  x = autocast_low(std::move(x));
  Dims sizes = x.sizes();
  sizes[1] = weight.size(0);
  for (int d = 2; d < sizes.count(); ++d) sizes[d] /= weight.size(d);
  Tensor y = empty(x.run(), sizes, x.dtype());
  take_scratch(x.run(), convolution_scratch(x, weight).forward_bytes);
  Tensors saved{x, weight};
  return record(std::move(y), {std::move(x), std::move(weight), std::move(bias)},
                {.name = "ConvolutionBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   Tensor weight_grad = call.needs(1) ? weight_gradient(call) : Tensor();
                   return {Tensor(), weight_grad, call.needs(2) ? bias_gradient(call.gradient()) : Tensor()};
                 }});
}

}  // namespace tidemark
