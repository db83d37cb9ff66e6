// torch/nn/utils/clip_grad.py (2.11.0)
#pragma once
#include "train/optimizer.h"

namespace tidemark {

/// torch.nn.utils.clip_grad_norm_(trainable, max_norm); the norm that it returns is let go.
void clip_grad_norm(Optimizer& optimizer);

}  // namespace tidemark
