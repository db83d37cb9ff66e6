#include "base/error.h"
#include "ops/ops.h"
#include "train/preference_loss.h"

namespace tidemark {
namespace {

/// The metrics of compute_loss, without gradients.
void look_at_scores(const Tensor& logits, const Tensor& chosen, const Tensor& rejected) {
  max(logits);  // min
  mean(logits);
  max(logits);
  {
    Tensor is_right = logical("aten::gt", chosen, rejected);
    is_right = to(std::move(is_right), Dtype::f32);
    const Tensor mean_accuracy = mean(std::move(is_right));
    mean(mean_accuracy);
  }
  Tensor mean_margin = mean(sub(chosen, rejected));
  mean_margin = mean(mean_margin);
}

}  // namespace

Tensor reward_loss(const Training& training, const Batch& inputs) {
  const ModelOutputs outputs = model_outputs(training, inputs);
  if (outputs.held.empty() || !outputs.held.front().requires_grad())
    throw Error(Errc::bad_value, "the score does not depend on any trained parameter", "freeze");
  const Tensor& logits = outputs.held.front();
  const Tensors rewards = chunk(squeeze(logits, -1), 2, 0);
  Tensor loss = mean(neg(log_sigmoid(sub(rewards[0], rewards[1]))));
  sum(sum(inputs.attention_mask));
  const NoGrad no_grad(training.run);
  look_at_scores(logits, rewards[0], rewards[1]);
  return loss;
}

}  // namespace tidemark
