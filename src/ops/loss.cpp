// torch: aten/src/ATen/native/{LossNLL.cpp,SoftMax.cpp}, cuda/{NLLLoss2d,SoftMax}.cu
#include "ops/loss.h"
#include "ops/ops.h"

namespace tidemark {
namespace {

/// Keeps the log-probabilities, the labels and the total weight.
Tensor nll_loss(Tensor log_probabilities, Tensor labels) {
  Run& run = log_probabilities.run();
  const Tensor argument = log_probabilities;
  log_probabilities = autocast_f32(std::move(log_probabilities));
  Tensor loss = empty(run, Dims{}, log_probabilities.dtype());
  Tensor total_weight = empty(run, Dims{}, log_probabilities.dtype());
  Tensors saved{log_probabilities, std::move(labels), std::move(total_weight)};
  return record(std::move(loss), {std::move(log_probabilities)},
                {.name = "NllLossBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   return {empty_like(call.saved[0])};
                 }});
}

}  // namespace

/// Half precision becomes float32 inside the kernel, bfloat16 by a conversion before it, as in softmax.
Tensor log_softmax(Tensor x, std::optional<Dtype> result) {
  const Op op(x, "aten::log_softmax");
  const Tensor argument = x;
  if (!result && x.run().autocast.enabled && is_floating(x.dtype())) result = Dtype::f32;  // fp32_set_opt_dtype
  const Dtype dtype = result.value_or(x.dtype());
  if (!(x.dtype() == Dtype::f16 && dtype == Dtype::f32)) x = to(std::move(x), dtype);
  Tensor y = empty(x.run(), x.sizes(), dtype);
  if (!x.is_contiguous()) {
    const Tensor copy = empty(x.run(), x.sizes(), x.dtype());
  }
  Tensors saved{alias(y)};
  const Facts facts{.dtype = x.dtype()};
  return record(std::move(y), {std::move(x)},
                {.name = "LogSoftmaxBackward0",
                 .saved = std::move(saved),
                 .facts = facts,
                 .backward = [](Backward& call) -> Tensors {
                   Tensor gradient = empty(call.run, call.gradient().sizes(), call.facts.dtype);
                   const Tensor in_order = contiguous(call.gradient());
                   return {std::move(gradient)};
                 }});
}

/// Its log_softmax is in the type of its input under autocast, too: cross_entropy_loss says so, and nll_loss casts.
Tensor cross_entropy(Tensor logits, Tensor labels) {
  const Op op(logits, "aten::cross_entropy_loss");
  const Tensor arguments[] = {logits, labels};
  Run& run = logits.run();
  const Dtype dtype = logits.dtype();
  Tensor log_probabilities = log_softmax(std::move(logits), dtype);
  Tensor loss = nll_loss(std::move(log_probabilities), std::move(labels));
  return run.num_items_in_batch ? div(std::move(loss), run.num_items_in_batch) : loss;
}

}  // namespace tidemark
