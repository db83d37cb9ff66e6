#include "ops/ops.h"
#include "train/preference_loss.h"
#include "train/preference_metrics.h"

namespace tidemark {
namespace {

/// Each half of the batch, summed over its tokens.
Tensors logps_of(const ModelOutputs& outputs) { return chunk(sequence_logps(outputs.tokens.log_probs), 2, 0); }

/// -F.logsigmoid(beta * delta_score)
Tensor sigmoid_loss(Tensor delta_score) { return neg(log_sigmoid(mul_scalar(std::move(delta_score)))); }

/// The accuracy of chosen samples; a local variable takes the place of one of `tokens`.
Tensors look_at_accuracy(const Tensor& is_top1, const Tensor& mask, TokenMetrics& tokens) {
  Tensor correct;
  {
    const Tensor places = to(mask, Dtype::boolean);
    correct = logical("aten::__and__", is_top1, places);
  }
  tokens.total_tokens = sum(mask);
  const Tensor correct_tokens = sum(correct), total_sum = sum(tokens.total_tokens);
  compare("aten::gt", total_sum);
  {
    const Tensor all = sum(correct_tokens);
    div(all, total_sum);
  }
  return {correct, correct_tokens, total_sum};
}

Tensors look_at_rewards(const Tensor& chosen_logratios, const Tensor& rejected_logratios) {
  const Tensor chosen = mul_scalar(detach(chosen_logratios)), rejected = mul_scalar(detach(rejected_logratios));
  mean(chosen);
  mean(rejected);
  const Tensor accuracies = to(logical("aten::gt", chosen, rejected), Dtype::f32);
  mean(accuracies);
  const Tensor margins = sub(chosen, rejected);
  mean(margins);
  return {chosen, rejected, accuracies, margins};
}

}  // namespace

Tensor dpo_loss(const Training& training, const Batch& inputs) {
  const Tensor mask = slice(inputs.labels, 1, 1, inputs.labels.size(1));
  Batch batch = inputs;
  batch.labels = completion_labels(inputs.input_ids, inputs.labels);
  const ModelOutputs outputs = forward_outputs(training, batch);
  const Tensors logps = logps_of(outputs);
  const ModelOutputs ref_outputs = reference_outputs(training, batch);
  const Tensors ref_logps = logps_of(ref_outputs);
  const Tensor chosen_logratios = sub(logps[0], ref_logps[0]), rejected_logratios = sub(logps[1], ref_logps[1]);
  const Tensor delta_score = sub(chosen_logratios, rejected_logratios);
  const Tensor per_sequence_loss = sigmoid_loss(delta_score);
  Tensor loss = add_scalar(mul_scalar(mean(per_sequence_loss)));
  TokenMetrics tokens = look_at_tokens(outputs, inputs.attention_mask, mask);
  const Tensors masks = chunk(mask, 2, 0);
  look_at_logits(chunk(outputs.tokens.mean_logits, 2, 0), masks);
  const Tensors accuracy = look_at_accuracy(chunk(outputs.tokens.is_top1, 2, 0)[0], masks[0], tokens);
  const Tensors rewards = look_at_rewards(chosen_logratios, rejected_logratios);
  for (const Tensor& side : logps) mean(side);
  return loss;
}

}  // namespace tidemark
