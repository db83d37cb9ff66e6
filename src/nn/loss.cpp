#include "nn/loss.h"

#include "ops/ops.h"

namespace tidemark {

Tensor causal_lm_loss(Tensor logits, Tensor labels, Tensor shift_labels) {
  const Tensor argument = std::move(logits);
  Tensor upcast = to(argument, Dtype::f32), padded;
  if (!shift_labels) {
    padded = pad(std::move(labels), {0, 1});
    shift_labels = contiguous(slice(padded, -1, 1, padded.size(-1)));
  }
  const std::int64_t vocabulary = upcast.size(-1);
  upcast = view(std::move(upcast), {-1, vocabulary});
  shift_labels = view(std::move(shift_labels), {-1});
  return cross_entropy(upcast, shift_labels);
}

}  // namespace tidemark
