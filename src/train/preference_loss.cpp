#include "train/preference_loss.h"

namespace tidemark {

Tensor preference_loss(const Training& training, const Batch& inputs) {
  switch (training.options.loop) {
    case LoopKind::kto_trainer: return kto_loss(training, inputs);
    case LoopKind::reward_trainer: return reward_loss(training, inputs);
    default: return dpo_loss(training, inputs);
  }
}

}  // namespace tidemark
