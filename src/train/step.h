// The training loop as a script.
#pragma once
#include <functional>
#include <optional>

#include "nn/model.h"
#include "train/grpo_options.h"
#include "train/hooks.h"
#include "train/loop_kind.h"
#include "train/optimizer.h"

namespace tidemark {

/// Where the loop calls optimizer.zero_grad(): behind the step, or in front of a step's first forward or backward pass.
enum class ZeroGradPlace { after_step, before_forward, before_backward };

struct StepOptions {
  LoopKind loop = LoopKind::plain;
  std::int64_t processes = 1;  // that share a step's batches
  std::int64_t steps = 3, grad_accumulation = 1;
  std::optional<double> max_grad_norm;
  ZeroGradPlace zero_grad = ZeroGradPlace::after_step;
  bool set_to_none = true;
  bool autocast = false, grad_scaler = false;
  Dtype autocast_dtype = Dtype::bf16;
  Dtype pixel_dtype = Dtype::bf16;
  /// The type of the count of labels once the Trainer has divided it; none: it is not divided.
  std::optional<Dtype> divided_items = {};
  bool loss_takes_items = true;          // the model's loss is a sum over the count of labels; else a mean
  std::optional<GrpoOptions> grpo = {};  // of grpo_trainer
  StepHooks hooks = {};                  // of a strategy for many GPUs
  std::int64_t passes = 0;               // backward passes of the first step after which no more is done; 0: all is
  bool repeat_steps = true;              // false: simulate every step (Note [Steps that repeat])
};

/// Thrown by train() where `passes` are over.
struct EnoughPasses {};

/// Told when a phase of a step (from 1) is over.
using PhaseObserver = std::function<void(std::int64_t step, StepPhase phase)>;

/// `reference`: a second model that scores batches; null: the model without its adapters does, if the loop has one.
/// Throws DeviceOutOfMemory, EnoughPasses, Error.
void train(Run& run, Model& model, Model* reference, const BatchSizes& sizes, Optimizer& optimizer,
           const StepOptions& options, const PhaseObserver& observer);

}  // namespace tidemark
