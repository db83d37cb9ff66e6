// A classifier as a reward model.  trl: trainer/reward_trainer.py, RewardTrainer.__init__ (1.16.0)
#pragma once
#include "base/value.h"

namespace tidemark {

/// The configuration of one score for each sample, with a token that pads.
Value with_one_score(Value config);

}  // namespace tidemark
