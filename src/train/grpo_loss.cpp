#include "ops/ops.h"
#include "ops/pointwise.h"
#include "tensor/stage.h"
#include "train/grpo.h"

namespace tidemark {
namespace {

/// global_masked_mean of numbers per token, or per sequence.
void look_at_masked_mean(const Tensor& x, const Tensor& mask) {
  Tensor local_sum, local_count;
  if (x.size(1) == 1) {
    local_sum = sum(x);
    local_count = to_device(x.run(), Dims{}, Dtype::f32);
  } else {
    local_sum = sum(mul(x, mask));
    local_count = to(sum(mask), Dtype::f32);
  }
  Tensor totals;
  {
    const Tensor both = stack({local_sum, local_count}, 0);
    totals = clone(both);  // accelerate: utils/operations.py, reduce
  }
  {
    const Tensor count = clamp(select(totals, 0, 1));
    div(select(totals, 0, 0), count);
  }
  release(local_sum, local_count, totals);
}

/// masked_seq_mean
Tensor sequence_mean(const Tensor& x, const Tensor& mask) {
  if (x.size(1) == 1) return squeeze(x, 1);
  const Tensor total = sum(mul(x, mask), {1});
  const Tensor count = sum(mask, {1});
  return div(total, count);
}

/// (coef_1 is beyond a bound) & (advantages are of one sign)
Tensor is_clipped(const char* name, const Tensor& coef_1, const Tensor& advantages) {
  Tensor is_beyond = compare(name, coef_1), is_of_sign = compare(name, advantages);
  Tensor both = logical("aten::__and__", is_beyond, is_of_sign);
  release(is_beyond, is_of_sign);
  return both;
}

/// exp(ref - logps) - (ref - logps) - 1, times the ratio
Tensor kl_of(const Tensor& logps, const Tensor& ref_logps, const Tensor& coef_1) {
  Tensor difference;
  {
    Tensor ratio = exp(sub(ref_logps, logps)), log_ratio = sub(ref_logps, logps);
    difference = sub(ratio, log_ratio);
    release(ratio, log_ratio);
  }
  Tensor per_token_kl = sub_number(std::move(difference));
  return mul(std::move(per_token_kl), coef_1);
}

/// count.clamp(min=1.0), of integers: they are cast behind the result, and for the kernel alone.
Tensor clamp_as_float(const Tensor& count) {
  const Op op(count, "aten::clamp");
  Tensor clamped = empty(count.run(), count.sizes(), Dtype::f32);
  const Tensor cast = empty(count.run(), count.sizes(), Dtype::f32);
  return clamped;
}

/// mask.sum(...).clamp(min=1.0), in floating point
Tensor count_of(const Tensor& mask, const Dims& dims) {
  const Tensor count = sum(mask, dims);
  return clamp_as_float(count);
}

/// log_ratio, or its mean over each sequence: (B, 1)
Tensor log_importance_weights(const Tensor& log_ratio, const Tensor& mask, bool of_sequence) {
  if (!of_sequence) return log_ratio;
  Tensor weights;
  {
    Tensor total = sum(mul(log_ratio, mask), {1}), count = count_of(mask, {1});
    weights = div(total, count);
    release(total, count);
  }
  return unsqueeze(std::move(weights), 1);
}

/// num_items_in_batch.clamp(min=1.0) / processes * passes / passes
Tensor normalizer_of(const Tensor& num_items_in_batch) {
  Tensor normalizer = clamp_as_float(num_items_in_batch);
  normalizer = div_scalar(normalizer);
  return div_scalar(mul_scalar(normalizer));
}

/// The loss by its type; `normalizer` and `policy_loss` live on.
Tensor reduced(const GrpoOptions& grpo, const Tensor& per_token_loss, const Tensor& mask, const Completions& inputs,
               Tensor& normalizer, Tensor& policy_loss) {
  const auto total = [&](const Dims& dims) { return sum(mul(per_token_loss, mask), dims); };
  Tensor loss;
  switch (grpo.loss_type) {
    case PolicyLoss::dapo:
      normalizer = normalizer_of(inputs.num_items_in_batch);
      loss = div(total({}), normalizer);
      policy_loss = detach(loss);
      return loss;
    case PolicyLoss::grpo: {
      Tensor of_sequences;
      {
        Tensor sums = total({1}), counts = count_of(mask, {1});
        of_sequences = div(sums, counts);
        release(sums, counts);
      }
      loss = mean(std::move(of_sequences));
      break;
    }
    case PolicyLoss::bnpo: {
      Tensor sum_of_all = total({}), count = count_of(mask, {});
      loss = div(sum_of_all, count);
      release(sum_of_all, count);
      break;
    }
    case PolicyLoss::dr_grpo: loss = div_scalar(total({})); break;
  }
  policy_loss = detach(loss);
  return div_scalar(std::move(loss));
}

/// Local variables of the clipped objective, in the order in which they are made.
struct Objective {
  Tensor log_ratio, weights, coef_1, per_token_kl, coef_2, per_token_loss1, per_token_loss2, per_token_loss;
};

void set_objective(Objective& locals, const GrpoOptions& grpo, const Completions& inputs, const Tensor& logps,
                   const Tensor& old_logps, const Tensor& advantages) {
  locals.log_ratio = sub(logps, old_logps);
  locals.weights = log_importance_weights(locals.log_ratio, inputs.completion_mask, grpo.of_sequence);
  locals.coef_1 = exp(locals.weights);
  if (grpo.has_reference) locals.per_token_kl = kl_of(logps, inputs.ref_per_token_logps, locals.coef_1);
  locals.coef_2 = clamp_between(locals.coef_1, true);
  locals.per_token_loss1 = mul(locals.coef_1, advantages);
  locals.per_token_loss2 = mul(locals.coef_2, advantages);
  locals.per_token_loss = neg(maximum(locals.per_token_loss1, locals.per_token_loss2));  // torch.min takes as much
  if (grpo.use_vllm) locals.per_token_loss = mul(locals.per_token_loss, inputs.importance_sampling_ratio);
  if (!grpo.has_reference) return;
  const Tensor scaled = mul_scalar(locals.per_token_kl);
  locals.per_token_loss = add(locals.per_token_loss, scaled);
}

/// Clipped shares of tokens; the sequences with the lowest and the highest one live on.
void look_at_clipping(const Tensor& coef_1, const Tensor& advantages, const Tensor& mask, Tensors& locals) {
  locals.push_back(is_clipped("aten::lt", coef_1, advantages));
  locals.push_back(is_clipped("aten::gt", coef_1, advantages));
  locals.push_back(logical("aten::__or__", locals[0], locals[1]));
  for (int kind = 0; kind < 3; ++kind)
    look_at_masked_mean(to(locals[static_cast<std::size_t>(kind)], Dtype::f32), mask);
  for (int kind = 0; kind < 2; ++kind) {
    locals.push_back(sequence_mean(to(locals[static_cast<std::size_t>(kind)], Dtype::f32), mask));
    look_at_extreme(locals.back());
  }
}

}  // namespace

Tensor grpo_loss(const Training& training, const Completions& inputs) {
  const InStage in_stage(training.run, "loss");
  const GrpoOptions& grpo = *training.options.grpo;
  Tensor input_ids = cat({inputs.prompt_ids, inputs.completion_ids}, 1);
  Tensor attention_mask = cat({inputs.prompt_mask, inputs.completion_mask}, 1);
  const Tensor& mask = inputs.completion_mask;
  PerTokenScores scores =
      per_token_scores(training, input_ids, attention_mask, input_ids.size(0), forward_outputs, true);
  const Tensor advantages = unsqueeze(inputs.advantages, 1);
  Tensor old_logps = inputs.old_per_token_logps ? inputs.old_per_token_logps : detach(scores.logps);
  Objective locals;
  set_objective(locals, grpo, inputs, scores.logps, old_logps, advantages);
  Tensor normalizer, policy_loss;
  Tensor loss = reduced(grpo, locals.per_token_loss, mask, inputs, normalizer, policy_loss);
  const NoGrad of_metrics(training.run);
  if (grpo.has_reference) look_at_masked_mean(locals.per_token_kl, mask);
  look_at_masked_mean(scores.entropies, mask);
  Tensors clipped;
  look_at_clipping(locals.coef_1, advantages, mask, clipped);
  release(input_ids, attention_mask, scores.logps, scores.entropies, old_logps, locals.log_ratio, locals.weights,
          locals.coef_1, locals.per_token_kl, locals.coef_2, locals.per_token_loss1, locals.per_token_loss2,
          locals.per_token_loss, normalizer, policy_loss);
  for (Tensor& one : clipped) one.reset();
  return loss;
}

}  // namespace tidemark
