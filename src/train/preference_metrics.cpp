#include "train/preference_metrics.h"

#include "ops/advanced_index.h"
#include "ops/ops.h"

namespace tidemark {
namespace {

/// values[mask.bool()].sum() of rows (B, S)
Tensor sum_under(const Tensor& values, const Tensor& mask) {
  Tensor chosen;
  {
    const Tensor places = to(mask, Dtype::boolean);
    chosen = index(values, {places}, mask.elements());
  }
  return sum(std::move(chosen));
}

}  // namespace

Tensor completion_labels(const Tensor& input_ids, const Tensor& completion_mask) {
  Tensor is_prompt = compare("aten::eq", completion_mask);
  return masked_fill(input_ids, std::move(is_prompt));
}

Tensor sequence_logps(const Tensor& log_probs) {
  return sum(slice_step(log_probs, 1, 0, log_probs.size(1), 1),
             {1});  // a slice by a negative start is one in the graph
}

void look_at_ratio(const Tensor& sum_of_all, const Tensor& count) {
  compare("aten::gt", count);
  div(sum_of_all, count);
}

TokenMetrics look_at_tokens(const ModelOutputs& outputs, const Tensor& attention_mask, const Tensor& mask) {
  TokenMetrics metrics{.entropy = detach(outputs.tokens.entropy), .entropy_sum = {}, .total_tokens = {}};
  metrics.entropy_sum = sum(mul(metrics.entropy, mask));
  metrics.total_tokens = sum(mask);
  metrics.entropy_sum = sum(metrics.entropy_sum);
  metrics.total_tokens = sum(metrics.total_tokens);
  look_at_ratio(metrics.entropy_sum, metrics.total_tokens);
  sum(sum(attention_mask));
  return metrics;
}

void look_at_logits(const Tensors& logits, const Tensors& masks) {
  Tensors totals;
  for (std::size_t side = 0; side < 2; ++side) {
    totals.push_back(sum_under(logits[side], masks[side]));
    totals.push_back(sum(masks[side]));
  }
  for (Tensor& total : totals) {
    sum(total);
    total.reset();
  }
}

}  // namespace tidemark
