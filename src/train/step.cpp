#include "train/step.h"

#include "base/error.h"
#include "tensor/engine.h"
#include "train/clip.h"
#include "train/grad_scaler.h"

namespace tidemark {
namespace {

Batch load_batch(Run& run, const BatchSizes& sizes, Dtype pixel_dtype) {
  const Setting<Category> category(run.category, Category::other);
  const auto load = [&](const std::optional<Dims>& dims, Dtype dtype) {
    return dims ? to_device(run, *dims, dtype) : Tensor();
  };
  Batch batch;
  if (sizes.pixels_first) batch.pixel_values = load(sizes.pixel_values, pixel_dtype);
  batch.input_ids = load(sizes.input_ids, Dtype::int64);
  batch.attention_mask = load(sizes.attention_mask, Dtype::int64);
  batch.labels = load(sizes.labels, Dtype::int64);
  if (!sizes.pixels_first) batch.pixel_values = load(sizes.pixel_values, pixel_dtype);
  return batch;
}

/// with torch.autocast(...): out = model(**batch)
Tensor forward(Run& run, Model& model, const Batch& batch, const StepOptions& options) {
  const Setting<bool> enabled(run.autocast.enabled, options.autocast);
  run.autocast.dtype = options.autocast_dtype;
  ModelOutputs out = model.forward(batch);
  Tensor loss = std::move(out.loss);
  run.autocast.weights.clear();
  if (!loss) throw Error(Errc::unsupported, "a model without labels computes no loss to train on", "labels");
  if (!loss.requires_grad())
    throw Error(Errc::bad_value, "the loss does not depend on any trained parameter", "freeze");
  return loss;
}

class Loop {
 public:
  Loop(Optimizer& optimizer, const StepOptions& options)
      : optimizer_(optimizer), options_(options), scaler_(options.grad_scaler) {}

  void zero_grad_at(ZeroGradPlace place) {
    if (options_.zero_grad == place) zero_grad(optimizer_, options_.set_to_none);
  }

  /// scaler.scale(loss).backward()
  void backward(Tensor loss) { tidemark::backward(scaler_.scale(loss)); }

  void step() {
    if (options_.max_grad_norm) {
      scaler_.unscale(optimizer_);
      clip_grad_norm(optimizer_);
    }
    scaler_.step(optimizer_);
    scaler_.update();
  }

 private:
  Optimizer& optimizer_;
  const StepOptions& options_;
  GradScaler scaler_;
};

}  // namespace

void train(Run& run, Model& model, const BatchSizes& sizes, Optimizer& optimizer, const StepOptions& options,
           const PhaseObserver& observer) {
  Loop loop(optimizer, options);
  for (std::int64_t step = 1; step <= options.steps; ++step) {
    loop.zero_grad_at(ZeroGradPlace::before_forward);
    for (std::int64_t micro = 0; micro < options.grad_accumulation; ++micro) {
      Batch batch = load_batch(run, sizes, options.pixel_dtype);
      Tensor loss = forward(run, model, batch, options);
      observer(step, StepPhase::forward);
      if (micro == 0) loop.zero_grad_at(ZeroGradPlace::before_backward);
      loop.backward(loss);
      observer(step, StepPhase::backward);
      loss.reset();
      batch = {};
    }
    loop.step();
    loop.zero_grad_at(ZeroGradPlace::after_step);
    observer(step, StepPhase::optimizer);
  }
}

}  // namespace tidemark
