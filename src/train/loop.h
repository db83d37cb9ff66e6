// What the loops around a model are made of.  A loop is a function that goes through one step.
#pragma once
#include <functional>

#include "train/step.h"

namespace tidemark {

/// Told which phase of the step is over.
using PhaseEnds = std::function<void(StepPhase)>;
using Loop = std::function<void(const PhaseEnds& phase_ends)>;

/// What a loop goes over; nothing is owned.
struct Training {
  Run& run;
  Model& model;
  Model* reference;  // null: none, or the model without adapters
  const BatchSizes& sizes;
  Optimizer& optimizer;
  const StepOptions& options;
};

/// A batch of the data, on the device.
Batch load_batch(const Training& training);

/// A forward and a backward pass of `batch` begin; `is_last`: the step comes behind them.
void begin_pass(const Training& training, Batch& batch, bool is_last);

/// with torch.autocast(...): outputs = model(**batch)
ModelOutputs model_outputs(const Training& training, const Batch& batch);
/// The same.  Throws Error where their loss does not depend on what is trained.
ModelOutputs forward_outputs(const Training& training, const Batch& batch);
/// The same of the reference, without gradients, adapters and checkpoints.
ModelOutputs reference_outputs(const Training& training, const Batch& batch);
/// The loss of the model's outputs, which is all that is left of them.
Tensor forward_loss(const Training& training, const Batch& batch);

/// A plain PyTorch loop: batch to the device, forward, loss, backward, step, zero_grad.
Loop plain_loop(const Training& training);
/// transformers' Trainer over accelerate.
Loop trainer_loop(const Training& training);

}  // namespace tidemark
