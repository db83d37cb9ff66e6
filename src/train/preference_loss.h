// The losses of TRL's trainers of preferences, with their default options.
// trl: trainer/{dpo,kto,reward}_trainer.py (1.16.0)
#pragma once
#include "train/loop.h"

namespace tidemark {

/// compute_loss of options.loop.  Where the loop has a reference, the labels of `inputs` are the trainer's
/// completion_mask, all of it true.
Tensor preference_loss(const Training& training, const Batch& inputs);

/// DPOTrainer's sigmoid loss: the chosen samples, then the rejected ones.
Tensor dpo_loss(const Training& training, const Batch& inputs);
/// KTOTrainer's loss with its KL term; of the samples one half, or one more, is desirable.
Tensor kto_loss(const Training& training, const Batch& inputs);
/// RewardTrainer's: one score of each sample, the chosen ones first.
Tensor reward_loss(const Training& training, const Batch& inputs);

}  // namespace tidemark
