// torch: aten/src/ATen/native/{LossNLL.cpp,SoftMax.cpp}, cuda/{NLLLoss2d,SoftMax}.cu
#include "ops/ops.h"

namespace tidemark {
namespace {

/// In the type of its input, under autocast too: cross_entropy_loss says so, and nll_loss is what casts.
Tensor log_softmax(Tensor x) {
  const Tensor in_order = x.is_contiguous() ? Tensor() : empty(x.run(), x.sizes(), x.dtype());
  Tensor y = empty(x.run(), x.sizes(), x.dtype());
  Tensors saved{alias(y)};
  return record(std::move(y), {std::move(x)},
                {.name = "LogSoftmaxBackward0", .saved = std::move(saved), .backward = [](Backward& call) -> Tensors {
                   return {empty_like(call.gradient())};
                 }});
}

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

Tensor cross_entropy(Tensor logits, Tensor labels) {
  const Op op(logits, "aten::cross_entropy_loss");
  const Tensor arguments[] = {logits, labels};
  Run& run = logits.run();
  Tensor loss = nll_loss(log_softmax(std::move(logits)), std::move(labels));
  return run.num_items_in_batch ? div(std::move(loss), run.num_items_in_batch) : loss;
}

}  // namespace tidemark
