// The head and the loss of a language model in tiles, without the logits.  trl: kernels/chunked_logprob.py (1.16.0)
#pragma once
#include "ops/ops.h"

namespace tidemark {

/// Of each token: how likely it was, how sure the model was, its mean logit, whether it was the likeliest.
struct TokenScores {
  Tensor log_probs, entropy, mean_logits, is_top1;
};

/// Scores beside log_probs that are asked for; the others stay empty.
struct ScoreKinds {
  bool entropy = false, mean_logits = false, is_top1 = false;
};

/// ChunkedLogProbFunction: hidden (N, D), weight (V, D), bias (V) or none, targets (N) -> (N) each.
TokenScores chunked_logprob(Tensor hidden, Tensor weight, Tensor bias, Tensor targets, const ScoreKinds& kinds);

}  // namespace tidemark
