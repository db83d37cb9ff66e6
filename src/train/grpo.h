// One step of TRL's GRPOTrainer, whose completions come from elsewhere: scored, rewarded, and trained on.
// trl: trainer/grpo_trainer.py (1.16.0)
#pragma once
#include "train/loop.h"

namespace tidemark {

/// The result of _generate_and_score_completions, of all passes of a step or of one: G samples, C tokens of a
/// completion.
struct Completions {
  Tensor prompt_ids, prompt_mask;          // (G, P)
  Tensor completion_ids, completion_mask;  // (G, C)
  Tensor advantages;                       // (G)
  Tensor num_items_in_batch;               // ()
  Tensor old_per_token_logps;              // (G, C); none where the policy's own take its place
  Tensor importance_sampling_ratio;        // (G, 1), of vLLM
  Tensor sampling_per_token_logps;         // (G, C), of vLLM
  Tensor ref_per_token_logps;              // (G, C), of a reference
};

/// Scores of completions: (B, C) each; entropies of a policy alone.
struct PerTokenScores {
  Tensor logps, entropies;
};

/// Who scores a batch: the policy, or the reference.
using Scorer = ModelOutputs (*)(const Training& training, const Batch& batch);

/// _get_per_token_logps_and_entropies, of `rows` samples at a time.
PerTokenScores per_token_scores(const Training& training, const Tensor& input_ids, const Tensor& attention_mask,
                                std::int64_t rows, Scorer scorer, bool with_entropies);

/// Completions of a step's passes, in the order in which they are trained on.
Completions scored_completions(const Training& training);

/// split_tensor_dict: those of one pass.
Completions of_pass(const Completions& completions, std::int64_t pass, std::int64_t passes);

/// Local variables of a reward's way to an advantage, which live until the completions are returned.
struct RewardLocals {
  Tensor rewards_per_func, unscorable_mask, rewards, mean_grouped_rewards, std_rewards, is_std_zero,
      all_process_advantages;
};

/// One reward function's numbers of `samples`, normalized in groups: (G).
Tensor advantages_of(const Training& training, std::int64_t samples, RewardLocals& locals);

/// _compute_loss
Tensor grpo_loss(const Training& training, const Completions& inputs);

/// nanmin(values).item(), and nanmax, of one row or of one number.  trl: trainer/utils.py (1.16.0)
void look_at_extreme(const Tensor& values);
/// torch.nanmean without gradients, over some dimensions or all.
Tensor plain_nanmean(const Tensor& x, const Dims& dims, bool keep_dims);

/// Frees them one after the other, as Python frees the local variables of a function.
template <class... Tensors>
void release(Tensors&... tensors) {
  (tensors.reset(), ...);
}

}  // namespace tidemark
