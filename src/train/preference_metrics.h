// Metrics of scored tokens that DPOTrainer and KTOTrainer share.  trl: trainer/{dpo,kto}_trainer.py, _compute_loss
// (1.16.0)
#pragma once
#include "nn/model.h"

namespace tidemark {

/// input_ids.masked_fill(completion_mask == 0, -100)
Tensor completion_labels(const Tensor& input_ids, const Tensor& completion_mask);

/// log_probs[:, -seq_len:].sum(dim=1)
Tensor sequence_logps(const Tensor& log_probs);

/// Local variables of compute_loss, which live until the loss is returned.
struct TokenMetrics {
  Tensor entropy, entropy_sum, total_tokens;
};

/// The mean entropy under the mask, and how many tokens the batch has.
TokenMetrics look_at_tokens(const ModelOutputs& outputs, const Tensor& attention_mask, const Tensor& mask);

/// The mean logits of the chosen samples and of the rejected ones, each under its mask: [0] and [1].
void look_at_logits(const Tensors& logits, const Tensors& masks);

/// (sum_of_all / count).item() if count > 0
void look_at_ratio(const Tensor& sum_of_all, const Tensor& count);

}  // namespace tidemark
