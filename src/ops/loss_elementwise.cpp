// torch: aten/src/ATen/native/Loss.cpp (2.11.0); autocast runs them all in float32 (autocast_mode.h)
#include "ops/loss.h"

#include "base/error.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "tensor/arithmetic.h"

namespace tidemark {
namespace {

Tensor elementwise(const Tensor& x, const Tensor& target, Dtype dtype) {
  const Layout* operands[] = {&x.layout(), &target.layout()};
  return empty(x.run(), elementwise_layout(operands), dtype);
}

/// zeros_like with LEGACY_CONTIGUOUS_MEMORY_FORMAT
Tensors in_order(Backward& call) {
  const auto of = [&](std::size_t i) {
    const Tensor& argument = call.saved[i];
    return call.needs(i) ? empty(call.run, argument.sizes(), argument.dtype()) : Tensor();
  };
  Tensor first = of(0);
  return {std::move(first), of(1)};
}

/// mse_loss_out, smooth_l1_loss_out: the result is made as large as what it compares, before it is reduced into, and
/// keeps that memory.
Tensor reduced_in_place(const char* name, const char* backward_name, Tensor x, Tensor target, LossReduction reduction) {
  const Op op(x, target, name);
  const Tensor arguments[] = {x, target};
  x = autocast_f32(std::move(x));
  target = autocast_f32(std::move(target));
  const Dtype dtype = promote(x.dtype(), target.dtype());
  Tensor y = elementwise(x, target, dtype);
  if (reduction != LossReduction::none) {
    const Tensor loss = elementwise(x, target, dtype);
    use_reduction_scratch(loss, every_dimension(loss), dtype);
    y = sole_view(view_of(y, Layout{}));
  }
  Tensors saved{x, target};
  return record(std::move(y), {std::move(x), std::move(target)},
                {.name = backward_name, .saved = std::move(saved), .backward = in_order});
}

}  // namespace

LossReduction loss_reduction(std::string_view name) {
  if (name == "none") return LossReduction::none;
  if (name == "sum") return LossReduction::sum;
  if (name != "mean")
    throw Error(Errc::unsupported, "a loss is reduced by none, mean or sum, not by " + std::string(name));
  return LossReduction::mean;
}

Tensor mse_loss(Tensor x, Tensor target, LossReduction reduction) {
  return reduced_in_place("aten::mse_loss", "MseLossBackward0", std::move(x), std::move(target), reduction);
}

Tensor smooth_l1_loss(Tensor x, Tensor target, LossReduction reduction) {
  return reduced_in_place("aten::smooth_l1_loss", "SmoothL1LossBackward0", std::move(x), std::move(target), reduction);
}

/// apply_loss_reduction((input - target).abs(), reduction): one expression, at whose end all in it go.
Tensor l1_loss(Tensor x, Tensor target, LossReduction reduction) {
  const Op op(x, target, "aten::l1_loss");
  const Tensor arguments[] = {x, target};
  x = autocast_f32(std::move(x));
  target = autocast_f32(std::move(target));
  const Tensor difference = sub(x, target);
  const Tensor loss = abs(difference);
  if (reduction == LossReduction::none) return loss;
  return reduction == LossReduction::mean ? mean(loss) : sum(loss);
}

/// Its gradient is sigmoid(input).sub_(target).mul_(grad).
Tensor binary_cross_entropy_with_logits(Tensor x, Tensor target, LossReduction reduction) {
  const Op op(x, target, "aten::binary_cross_entropy_with_logits");
  const Tensor arguments[] = {x, target};
  x = autocast_f32(std::move(x));
  target = autocast_f32(std::move(target));
  const Tensor log_sigmoid = empty_like(x);
  Tensor loss = empty_like(target);
  if (reduction != LossReduction::none) loss = plain_sum(loss, every_dimension(loss), false, loss.dtype());
  Tensors saved{x, std::move(target)};
  return record(std::move(loss), {std::move(x)},
                {.name = "BinaryCrossEntropyWithLogitsBackward0",
                 .saved = std::move(saved),
                 .backward = [](Backward& call) -> Tensors { return {empty_like(call.saved[0])}; }});
}

}  // namespace tidemark
