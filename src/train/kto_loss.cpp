#include "ops/ops.h"
#include "ops/pointwise.h"
#include "ops/selection.h"
#include "train/preference_loss.h"
#include "train/preference_metrics.h"

namespace tidemark {
namespace {

using Score = ModelOutputs (*)(const Training& training, const Batch& batch);

/// _compute_kl_logps: of the samples with another's completion.
Tensor kl_logps(const Training& training, const Batch& inputs, Score score) {
  Batch batch = inputs;
  batch.input_ids = inputs.kl_input_ids;
  batch.attention_mask = inputs.kl_attention_mask;
  batch.labels = completion_labels(inputs.kl_input_ids, inputs.kl_labels);
  Tensor log_probs;
  {
    const NoGrad no_grad(training.run);
    log_probs = score(training, batch).tokens.log_probs;
  }
  return sequence_logps(log_probs);
}

/// Places of desirable and undesirable samples.
Tensors places_of(const Tensor& desirable) {
  const std::int64_t chosen = (desirable.size(0) + 1) / 2, rejected = desirable.size(0) - chosen;
  Tensors places{view(nonzero(desirable, chosen), Dims{chosen})};
  Tensor undesirable = bitwise("aten::bitwise_not", desirable);
  places.push_back(view(nonzero(std::move(undesirable), rejected), Dims{rejected}));
  return places;
}

/// x.index_select(0, places) of either kind.
Tensors selected(const Tensor& x, const Tensors& places) {
  Tensors rows;
  for (const Tensor& some : places) rows.push_back(index_select(x, 0, some));
  return rows;
}

/// (KL_logps - ref_KL_logps).mean().detach(), and of that .mean().clamp(min=0)
Tensor kl_of(const Tensor& logps, const Tensor& ref_logps) {
  const Tensor kl = detach(mean(sub(logps, ref_logps)));
  return clamp(mean(kl));
}

/// Local variables of one kind of sample, which live until the loss is returned.
struct Side {
  Tensor logratios, losses, rewards;
};

/// 1 - F.sigmoid(self.beta * delta)
Tensor loss_of(Tensor delta) { return rsub(sigmoid(mul_scalar(std::move(delta)))); }

Side side_of(const Tensor& logps, const Tensor& ref_logps, const Tensor& kl, bool is_chosen) {
  Side side;
  side.logratios = sub(logps, ref_logps);
  side.losses = loss_of(is_chosen ? sub(side.logratios, kl) : sub(kl, side.logratios));
  side.rewards = mul_scalar(detach(side.logratios));
  return side;
}

Tensor joined(const Side& chosen, const Side& rejected) {
  Tensors weighted{mul_scalar(chosen.losses)};
  weighted.push_back(mul_scalar(rejected.losses));
  return cat(std::move(weighted), 0);
}

/// x.nansum().nansum().item()
void look_at_total(const Tensor& x) { nansum(nansum(x)); }

}  // namespace

Tensor kto_loss(const Training& training, const Batch& inputs) {
  const Tensor num_chosen = count_true(inputs.desirable), num_rejected = rsub(num_chosen);
  const Tensor logps_kl = kl_logps(training, inputs, model_outputs);
  Batch batch = inputs;
  batch.labels = completion_labels(inputs.input_ids, inputs.labels);
  const ModelOutputs outputs = forward_outputs(training, batch);
  const Tensor completion_logps = sequence_logps(outputs.tokens.log_probs);
  const Tensors places = places_of(inputs.desirable);
  const Tensors logps = selected(completion_logps, places);
  const Tensor ref_logps_kl = kl_logps(training, inputs, reference_outputs);
  const ModelOutputs ref_outputs = reference_outputs(training, batch);
  const Tensor ref_completion_logps = sequence_logps(ref_outputs.tokens.log_probs);
  const Tensors ref_logps = selected(ref_completion_logps, places);
  const Tensor kl = kl_of(logps_kl, ref_logps_kl);
  const Side chosen = side_of(logps[0], ref_logps[0], kl, true);
  const Side rejected = side_of(logps[1], ref_logps[1], kl, false);
  const Tensor losses = joined(chosen, rejected);
  const Tensor mask = slice(inputs.labels, 1, 1, inputs.labels.size(1));
  const TokenMetrics tokens = look_at_tokens(outputs, inputs.attention_mask, mask);
  const Tensors logits = selected(outputs.tokens.mean_logits, places), masks = selected(mask, places);
  look_at_logits(logits, masks);
  sum(num_chosen);
  sum(num_rejected);
  look_at_total(chosen.rewards);
  look_at_total(logps[0]);
  look_at_total(rejected.rewards);
  look_at_total(logps[1]);
  return nanmean(losses);
}

}  // namespace tidemark
