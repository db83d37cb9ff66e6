#pragma once

namespace tidemark {

/// Whose loop it is: a script's, that of transformers' Trainer over accelerate, or of one of TRL's trainers, which
/// have their own losses.
enum class LoopKind { plain, trainer, sft_trainer, dpo_trainer, kto_trainer, reward_trainer, grpo_trainer };

constexpr bool is_of_trl(LoopKind loop) { return loop >= LoopKind::sft_trainer; }
/// Whether it trains on which samples people prefer; batches have no labels.
constexpr bool is_of_preferences(LoopKind loop) {
  return loop > LoopKind::sft_trainer && loop < LoopKind::grpo_trainer;
}
/// Whether a batch holds a chosen and a rejected sample of each pair.
constexpr bool takes_pairs(LoopKind loop) { return loop == LoopKind::dpo_trainer || loop == LoopKind::reward_trainer; }
/// Whether a reference always scores each batch, too.
constexpr bool has_reference(LoopKind loop) { return loop == LoopKind::dpo_trainer || loop == LoopKind::kto_trainer; }
/// Whether TRL's head scores tokens instead of logits.
constexpr bool has_fused_head(LoopKind loop) {
  return loop == LoopKind::sft_trainer || loop == LoopKind::grpo_trainer || has_reference(loop);
}

}  // namespace tidemark
