#include "ops/advanced_index.h"
#include "ops/ops.h"
#include "ops/pointwise.h"
#include "tensor/stage.h"
#include "train/grpo.h"
#include "train/preference_metrics.h"

namespace tidemark {
namespace {

/// outputs.log_probs[:, -logits_to_keep:]
Tensor last_tokens(const Tensor& scores, std::int64_t tokens) {
  return slice_step(scores, 1, scores.size(1) - tokens, scores.size(1), 1);
}

/// The policy as it is trained, without gradients and checkpoints.
ModelOutputs policy_outputs(const Training& training, const Batch& batch) {
  const Setting<bool> checkpoints(training.run.checkpoints_off, true);
  return model_outputs(training, batch);
}

/// The counts and lengths that _generate logs.  No completion ends before its last token.
void look_at_lengths(Run& run, std::int64_t samples) {
  Tensor term_lengths, is_truncated, total_prompt_tokens, completion_lengths, prompt_lengths;  // freed from the last
  prompt_lengths = to_device(run, {samples}, Dtype::int64);
  completion_lengths = to_device(run, {samples}, Dtype::int64);
  total_prompt_tokens = sum(prompt_lengths);
  {
    const Tensor tokens = sum(completion_lengths);
    add(total_prompt_tokens, tokens);
  }
  mean(to(completion_lengths, Dtype::f32));
  for (int extreme = 0; extreme < 2; ++extreme) max(to(completion_lengths, Dtype::f32));
  is_truncated = to_device(run, {samples}, Dtype::boolean);
  mean(to(is_truncated, Dtype::f32));
  {
    const Tensor is_terminated = bitwise("aten::bitwise_not", is_truncated);
    term_lengths = index(completion_lengths, {is_terminated}, 0);
  }
  term_lengths = zeros(run, {1}, Dtype::f32);
  mean(term_lengths);
  for (int extreme = 0; extreme < 2; ++extreme) max(term_lengths);
}

/// Local variables of the correction for vLLM's own probabilities.
struct Correction {
  Tensor mask, per_token_logps_diff, per_sequence_logps_diff, invalid_mis_mask;
};

/// vllm_importance_sampling_mode sequence_mask
Tensor importance_sampling_ratio(const Completions& scored, Correction& locals) {
  Tensor& diff = locals.per_token_logps_diff;
  {
    const Tensor difference = sub(scored.old_per_token_logps, scored.sampling_per_token_logps);
    diff = mul(difference, scored.completion_mask);
  }
  {
    const Op op(diff, "aten::nan_to_num");
    diff = empty(diff.run(), diff.sizes(), diff.dtype());
  }
  locals.per_sequence_logps_diff = sum(diff, {1}, true);
  const Tensor ratio = exp(locals.per_sequence_logps_diff);
  {
    Tensor is_low = compare("aten::lt", ratio), is_high = compare("aten::gt", ratio);
    locals.invalid_mis_mask = logical("aten::__or__", is_low, is_high);
    release(is_low, is_high);
  }
  return masked_fill(ratio, locals.invalid_mis_mask);
}

/// Logged tensors of the correction, which live until the completions are returned.
struct CorrectionMetrics {
  Tensor delta, mean_delta, max_delta, min_ratio, mean_ratio, max_ratio;
};

void look_at_correction(const Completions& scored, Correction& locals, CorrectionMetrics& metrics) {
  {
    const Tensor difference = sub(scored.old_per_token_logps, scored.sampling_per_token_logps);
    metrics.delta = abs(difference);
  }
  locals.mask = to(scored.completion_mask, Dtype::boolean);
  {
    Tensor numbers;
    {
      const Tensor is_nan = compare("aten::isnan", metrics.delta);
      numbers = bitwise("aten::bitwise_not", is_nan);
    }
    Tensor places = logical("aten::__and__", locals.mask, numbers);
    numbers.reset();
    Tensor kept = index(metrics.delta, {places}, places.elements());
    places.reset();
    metrics.delta = std::move(kept);
  }
  metrics.mean_delta = mean(metrics.delta);
  metrics.max_delta = max(metrics.delta);
  mean(metrics.mean_delta);
  max(metrics.max_delta);
  const Tensor flat = view(scored.importance_sampling_ratio, {scored.importance_sampling_ratio.elements()});
  metrics.min_ratio = max(flat);
  metrics.mean_ratio = mean(flat);
  metrics.max_ratio = max(flat);
  look_at_extreme(metrics.min_ratio);
  plain_nanmean(metrics.mean_ratio, {}, false);
  look_at_extreme(metrics.max_ratio);
}

/// Each tensor that is one row per sample, in the order of the trainer's dictionary.
template <class Change>
void for_each_row_tensor(Completions& completions, Change change) {
  for (Tensor Completions::* tensor :
       {&Completions::prompt_ids, &Completions::prompt_mask, &Completions::completion_ids,
        &Completions::completion_mask, &Completions::advantages, &Completions::old_per_token_logps,
        &Completions::importance_sampling_ratio, &Completions::sampling_per_token_logps,
        &Completions::ref_per_token_logps})
    if (completions.*tensor) change(completions.*tensor);
}

/// shuffle_sequence_dict, by places that come from the host.  trl: trainer/utils.py (1.16.0)
Completions shuffled(Completions completions) {
  Completions before = completions;
  for_each_row_tensor(completions, [](Tensor& tensor) {
    const Tensor permutation = to_device(tensor.run(), {tensor.size(0)}, Dtype::int64);
    tensor = index(tensor, {permutation}, tensor.size(0));
  });
  for_each_row_tensor(before, [](Tensor& tensor) { tensor.reset(); });
  return completions;
}

}  // namespace

PerTokenScores per_token_scores(const Training& training, const Tensor& input_ids, const Tensor& attention_mask,
                                std::int64_t rows, Scorer scorer, bool with_entropies) {
  const std::int64_t tokens = training.options.grpo->completion_tokens, samples = input_ids.size(0);
  Tensors all_logps, all_entropies;
  Batch batch;
  ModelOutputs outputs;
  for (std::int64_t start = 0; start < samples; start += rows) {
    const std::int64_t end = std::min(start + rows, samples);
    batch.input_ids = slice(input_ids, 0, start, end);
    batch.attention_mask = slice(attention_mask, 0, start, end);
    batch.labels = completion_labels(batch.input_ids, batch.attention_mask);
    batch.scored_tokens = tokens;
    outputs = scorer(training, batch);
    all_logps.push_back(last_tokens(outputs.tokens.log_probs, tokens));
    if (with_entropies) all_entropies.push_back(last_tokens(outputs.tokens.entropy, tokens));
  }
  PerTokenScores scores;
  scores.logps = cat(all_logps, 0);
  if (with_entropies) scores.entropies = cat(all_entropies, 0);
  all_logps.clear();
  all_entropies.clear();
  release(batch.labels, outputs.loss, outputs.tokens.log_probs, outputs.tokens.entropy, outputs.tokens.label_mask);
  return scores;
}

Completions scored_completions(const Training& training) {
  Run& run = training.run;
  const Setting<Category> category(run.category, Category::other);
  const StepOptions& options = training.options;
  const GrpoOptions& grpo = *options.grpo;
  const Dims& sizes = *training.sizes.input_ids;
  const std::int64_t batch = sizes[0], samples = batch * options.grad_accumulation;
  const Dims prompts{samples, sizes[1] - grpo.completion_tokens}, completions{samples, grpo.completion_tokens};
  look_at_lengths(run, samples);
  Completions scored;
  scored.prompt_ids = to_device(run, prompts, Dtype::int64);
  scored.prompt_mask = to_device(run, prompts, Dtype::int64);
  scored.completion_ids = to_device(run, completions, Dtype::int64);
  scored.completion_mask = to_device(run, completions, Dtype::int64);
  if (grpo.use_vllm) scored.sampling_per_token_logps = to_device(run, completions, Dtype::f32);
  scored.num_items_in_batch = sum(sum(scored.completion_mask));
  Tensor prompt_completion_ids = cat({scored.prompt_ids, scored.completion_ids}, 1);
  Tensor attention_mask = cat({scored.prompt_mask, scored.completion_mask}, 1);
  Correction correction;
  {
    const NoGrad no_grad(run);
    const auto logps = [&](const char* stage, Scorer scorer) {
      const InStage in_stage(run, stage);
      return per_token_scores(training, prompt_completion_ids, attention_mask, batch, scorer, false).logps;
    };
    if (grpo.use_vllm) scored.old_per_token_logps = logps("policy log-probabilities", policy_outputs);
    if (grpo.use_vllm) scored.importance_sampling_ratio = importance_sampling_ratio(scored, correction);
    if (grpo.has_reference) scored.ref_per_token_logps = logps("reference log-probabilities", reference_outputs);
  }
  const NoGrad nothing_is_kept(run);
  RewardLocals rewards;
  scored.advantages = advantages_of(training, samples, rewards);
  CorrectionMetrics metrics;
  if (grpo.use_vllm) look_at_correction(scored, correction, metrics);
  release(prompt_completion_ids, attention_mask, correction.mask, correction.per_token_logps_diff,
          correction.per_sequence_logps_diff, correction.invalid_mis_mask, rewards.rewards_per_func,
          rewards.unscorable_mask, rewards.rewards, rewards.mean_grouped_rewards, rewards.std_rewards,
          rewards.is_std_zero, rewards.all_process_advantages, metrics.delta, metrics.mean_delta, metrics.max_delta,
          metrics.min_ratio, metrics.mean_ratio, metrics.max_ratio);
  return shuffled(std::move(scored));
}

Completions of_pass(const Completions& completions, std::int64_t pass, std::int64_t passes) {
  Completions part = completions;
  const std::int64_t rows = completions.prompt_ids.size(0) / passes;
  for_each_row_tensor(part, [&](Tensor& tensor) { tensor = slice(tensor, 0, pass * rows, (pass + 1) * rows); });
  return part;
}

}  // namespace tidemark
