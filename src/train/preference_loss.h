// The losses of TRL's trainers of preferences, with their default options.  trl: trainer/dpo_trainer.py (1.16.0)
#pragma once
#include "train/loop.h"

namespace tidemark {

/// DPOTrainer's sigmoid loss: the chosen samples, then the rejected ones.  The labels of `inputs` are the trainer's
/// completion_mask, all of it true.
Tensor dpo_loss(const Training& training, const Batch& inputs);

}  // namespace tidemark
