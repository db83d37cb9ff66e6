// A language model's head and loss as TRL's trainers put them in the place of its own: of every token what it needs, no
// logits.  trl: trainer/utils.py, add_fused_lm_head (1.16.0)
#pragma once
#include "nn/model.h"
#include "ops/chunked_logprob.h"

namespace tidemark {

/// _fused_forward behind the call of the backbone, whose first result is its last hidden state (B, S, D).
/// `scored_tokens` of each sample have labels; 0: all but the first.
ModelOutputs fused_head(Module& head, Tensors backbone_outputs, Tensor labels, std::int64_t scored_tokens,
                        const ScoreKinds& kinds);

}  // namespace tidemark
