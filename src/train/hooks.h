// Where a strategy for many GPUs takes part in the loop of train/step.h.
#pragma once
#include <functional>
#include <memory>

#include "nn/model.h"
#include "train/optimizer.h"

namespace tidemark {

enum class StepPhase : std::uint8_t { forward, backward, optimizer };

/// Empty ones are not called.
struct StepHooks {
  /// The batch of a forward and a backward pass is on the device; what is put into it lives as long.
  std::function<void(Batch& batch)> batch_is_loaded;
  /// Both passes are over.
  std::function<void(Batch& batch)> batch_is_done;
  /// A forward and a backward pass begin; `is_last`: the step comes behind them.
  std::function<void(bool is_last)> pass_begins;
  /// The wrapper's own part of `model(**batch)`, in front of the model's.
  std::function<void()> before_forward;
  /// After that: the keyword arguments may be replaced, which then live as long as the call.
  std::function<void(Batch& inputs)> replace_inputs;
  /// Behind the model's: the outputs may be replaced.
  std::function<void(ModelOutputs& outputs)> after_forward;
  /// A parameter's gradient has been accumulated.  torch: a post hook of AccumulateGrad
  std::function<void(const Tensor& parameter)> gradient_is_ready;
  /// In place of loss.backward(); `is_last`: the step comes next.
  std::function<void(const Tensor& loss, bool is_last)> backward;
  /// In place of model(**batch) and loss.backward(), where one is not over when the other begins; tells which it is at.
  std::function<void(const Batch& batch, const std::function<void(StepPhase)>& goes_on)> passes;
  /// loss.backward() is over.  torch: a callback that is queued in the pass
  std::function<void()> after_backward;
  // Of a stage of a pipeline whose gradients are reduced once for all its passes.
  /// Around each backward pass; `measures`: it is the one that a stage finds its sizes by, which nothing was set for.
  std::function<void(const std::function<void()>& pass, bool measures)> around_backward;
  /// Behind the last of them.  torch: PipelineStage.perform_reduce_grad
  std::function<void()> reduce_gradients;
  /// What the GPUs share of it is gathered, waited for and let go of.  torch: FSDPModule.unshard, UnshardHandle.wait,
  /// FSDPModule.reshard
  std::function<void()> unshard, wait_for_unshard, reshard;
  /// In place of clipping, optimizer.step() and zero_grad().
  std::function<void(Optimizer& optimizer)> step;
  /// `backward` and `step` are DeepSpeed's engine's, which groups parameters itself; accelerate gives it the loss as it
  /// is, and has it step behind its last backward pass.
  bool is_engine = false;
  /// In place of torch.nn.utils.clip_grad_norm_.
  std::function<void()> clip_grad_norm;
  /// Whether the next step will be like the last one: false while the strategy is still learning from steps.
  std::function<bool()> is_settled;
  /// The strategy does nothing in the first step that it does not do in every one, and keeps nothing that it counts.
  bool begins_settled = false;
  /// Gradients are on the host, and so is what clipping and the optimizer make of them.
  bool has_gradients_on_host = false;
  /// Of the norms of this rank's gradients those of all ranks', before clip_grad_norm_ makes one of them.
  std::function<Tensor(Tensor norms)> reduce_norms;
  /// Makes the optimizer for two groups: what a strategy split, and the others.  foreach functions take one kind.
  template <class IsSplit>
  void group_parameters(const std::vector<Tensor>& trainable, IsSplit&& is_split);

  /// What the optimizer is made for, in place of the model's own parameters.
  TensorList optimizer_parameters;
  /// How many of them stand in each of its groups; empty: one group.
  std::vector<std::size_t> group_sizes;
  /// Optimizer::gradient_placements, of optimizer_parameters.
  std::vector<GradientPlacement> gradient_placements;
  /// What the hooks on modules belong to: as long as these hooks are, it is.
  std::shared_ptr<const void> keeps;
  /// The loop is `loss = engine(**batch).loss` without `del`: a batch on the device lives as long as the call, and a
  /// loss until the next one takes its name.
  bool loop_keeps_loss = false;
};

template <class IsSplit>
void StepHooks::group_parameters(const std::vector<Tensor>& trainable, IsSplit&& is_split) {
  TensorList others;
  for (const Tensor& parameter : trainable) (is_split(parameter) ? optimizer_parameters : others).push_back(parameter);
  for (const std::size_t size : {optimizer_parameters.size(), others.size()})
    if (size > 0) group_sizes.push_back(size);
  optimizer_parameters.insert(optimizer_parameters.end(), others.begin(), others.end());
}

}  // namespace tidemark
