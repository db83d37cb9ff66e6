// SFTTrainer.compute_loss.  trl: trainer/sft_trainer.py (1.16.0)
#pragma once
#include <functional>

#include "nn/model.h"

namespace tidemark {

/// accelerator.gather(x).sum()
using GatheredSum = std::function<Tensor(Tensor)>;

/// Of outputs of a fused head, and what it counts of them besides; they are gone then.
Tensor sft_loss(ModelOutputs outputs, const Tensor& attention_mask, const Tensor& num_items_in_batch,
                const GatheredSum& gathered_sum);

}  // namespace tidemark
