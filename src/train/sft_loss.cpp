#include "train/sft_loss.h"

#include "ops/ops.h"

namespace tidemark {
namespace {

/// per_token_loss.sum() / num_items_in_batch.clamp(min=1), then times the number of processes
Tensor mean_loss(const Tensor& per_token_loss, const Tensor& num_items_in_batch) {
  Tensor loss;
  {
    Tensor total = sum(per_token_loss), count = clamp(num_items_in_batch);
    loss = div(std::move(total), std::move(count));
  }
  return mul_scalar(std::move(loss));
}

/// (a / b).item() if b > 0
void look_at_mean(const Tensor& sum_of_all, const Tensor& count) {
  compare("aten::gt", count);
  div(sum_of_all, count);
}

}  // namespace

Tensor sft_loss(ModelOutputs outputs, const Tensor& attention_mask, const Tensor& num_items_in_batch,
                const GatheredSum& gathered_sum) {
  const ModelOutputs::Tokens& tokens = outputs.tokens;
  const Tensor per_token_loss = neg(tokens.log_probs);
  Tensor loss = mean_loss(per_token_loss, num_items_in_batch);
  const Tensor valid = gathered_sum(count_true(tokens.label_mask));
  const Tensor entropy = gathered_sum(sum(detach(tokens.entropy)));
  const Tensor correct = gathered_sum(count_true(tokens.is_top1));
  look_at_mean(entropy, valid);
  look_at_mean(correct, valid);
  if (attention_mask) gathered_sum(sum(attention_mask));
  return loss;
}

}  // namespace tidemark
