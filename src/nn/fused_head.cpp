#include "nn/fused_head.h"

#include "base/error.h"
#include "ops/advanced_index.h"

namespace tidemark {
namespace {

/// x.new_zeros(mask.shape).masked_scatter(mask, x)
Tensor in_place_of(const Tensor& mask, const Tensor& scores) {
  Tensor zeros_of_all = zeros(scores.run(), mask.sizes(), scores.dtype());
  return masked_scatter(std::move(zeros_of_all), mask, scores);
}

/// -log_probs.sum() / mask.sum().clamp(min=1)
Tensor loss_of(const Tensor& log_probs, const Tensor& mask) {
  Tensor total = neg(sum(log_probs));
  Tensor count = count_true(mask);
  count = clamp(std::move(count));
  return div(std::move(total), std::move(count));
}

/// weight.full_tensor(), where it is one of FSDP's
Tensor full_tensor(const Module& head, const char* name) {
  const Parameter& parameter = head.get(name);
  return head.hooks && head.hooks->full_tensor ? head.hooks->full_tensor(parameter) : parameter.tensor;
}

}  // namespace

ModelOutputs fused_head(Module& head, Tensors backbone_outputs, Tensor labels, std::int64_t scored_tokens,
                        const ScoreKinds& kinds) {
  if (head.quantized || !head.has_parameter("weight"))
    throw Error(Errc::unsupported, "TRL multiplies with the head's weight itself, which is quantized or has adapters",
                "loop");
  // hidden_states.to(lm_head.weight.device): where it is in parts, it is whole from here on
  head("weight");
  const Tensor hidden_states = slice(backbone_outputs[0], 1, 0, backbone_outputs[0].size(1) - 1);
  const std::int64_t length = labels.size(1);
  labels = slice(std::move(labels), 1, 1, length);
  const Tensor mask = compare("aten::ne", labels);
  const std::int64_t tokens = scored_tokens > 0 ? scored_tokens * mask.size(0) : mask.elements();
  const Tensor weight = full_tensor(head, "weight"),
               bias = head.has_parameter("bias") ? full_tensor(head, "bias") : Tensor();
  ModelOutputs outputs;
  {
    Tensor chosen = index(hidden_states, {mask}, tokens);
    Tensor targets = index(labels, {mask}, tokens);
    const TokenScores scores = chunked_logprob(std::move(chosen), weight, bias, std::move(targets), kinds);
    outputs.tokens.log_probs = in_place_of(mask, scores.log_probs);
    if (kinds.entropy) outputs.tokens.entropy = in_place_of(mask, scores.entropy);
    if (kinds.mean_logits) outputs.tokens.mean_logits = in_place_of(mask, scores.mean_logits);
    if (kinds.is_top1) outputs.tokens.is_top1 = in_place_of(mask, scores.is_top1);
  }
  outputs.loss = loss_of(outputs.tokens.log_probs, mask);
  outputs.tokens.label_mask = mask;
  return outputs;
}

}  // namespace tidemark
