// The checkpointing that costs least under a budget, judged by the peak of the real step.
#pragma once
#include <cstdint>

#include "plan/layer_choice.h"
#include "plan/plan.h"

namespace tidemark::plan {

/// What a model's layers do again when all are checkpointed, in one pass.
struct LayerWork {
  std::vector<std::int64_t> numbers;   // of those layers that run again, as checkpoint_layers counts them
  std::vector<std::string> operators;  // whose results can be kept
  std::vector<LayerAgain> again;       // by layer
  std::vector<LayerCost> costs;        // likewise, on the engine's card
  double flops = 0;                    // of a pass that does nothing again
};

/// Throws Error{bad_value} where no layer runs again.
LayerWork layer_work(const Spec& spec, const Engine& engine);

/// `spec` with that choice.
Spec with_choice(Spec spec, const LayerWork& work, const LayerChoice& choice);

/// What is done again under it.
Again again_of(const LayerWork& work, const LayerChoice& choice);

struct CheckpointingPlan {
  Plan plan;
  std::int64_t budget_bytes = 0;  // 0: what the card takes
  Again again;                    // of the answer, in one pass
  double again_seconds = 0;       // likewise, by which it was chosen
  double pass_flops = 0;          // that does nothing again
};

/// The layers and operators for the least recomputation whose peak is within `budget_bytes`, margin included, or fits
/// on the card where that is 0.  All else is as the question's spec has it.
CheckpointingPlan plan_checkpointing(const Question& question, std::int64_t budget_bytes, const Engine& engine);

}  // namespace tidemark::plan
