// What a model that predicts the next token is trained by.
#pragma once
#include "tensor/tensor.h"

namespace tidemark {

/// transformers: loss.loss_utils.ForCausalLMLoss
Tensor causal_lm_loss(Tensor logits, Tensor labels, Tensor shift_labels = {});

}  // namespace tidemark
