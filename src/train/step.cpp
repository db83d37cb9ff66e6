#include "train/step.h"

#include "tensor/engine.h"

namespace tidemark {
namespace {

Batch load_batch(Run& run, const BatchSizes& sizes, Dtype pixel_dtype) {
  const Setting<Category> category(run.category, Category::other);
  const auto load = [&](const std::optional<Dims>& dims, Dtype dtype) {
    return dims ? to_device(run, *dims, dtype) : Tensor();
  };
  Batch batch;
  batch.input_ids = load(sizes.input_ids, Dtype::int64);
  batch.attention_mask = load(sizes.attention_mask, Dtype::int64);
  batch.labels = load(sizes.labels, Dtype::int64);
  batch.pixel_values = load(sizes.pixel_values, pixel_dtype);
  return batch;
}

/// with torch.autocast(...): out = model(**batch)
Tensor forward(Run& run, Model& model, const Batch& batch, const StepOptions& options) {
  const Setting<bool> enabled(run.autocast.enabled, options.autocast);
  run.autocast.dtype = options.autocast_dtype;
  ModelOutputs out = model.forward(batch);
  Tensor loss = std::move(out.loss);
  run.autocast.weights.clear();
  return loss;
}

}  // namespace

void train(Run& run, Model& model, const BatchSizes& sizes, Optimizer& optimizer, const StepOptions& options,
           const PhaseObserver& observer) {
  for (std::int64_t step = 1; step <= options.steps; ++step) {
    for (std::int64_t micro = 0; micro < options.grad_accumulation; ++micro) {
      Batch batch = load_batch(run, sizes, options.pixel_dtype);
      Tensor loss = forward(run, model, batch, options);
      observer(step, StepPhase::forward);
      backward(loss);
      observer(step, StepPhase::backward);
      loss.reset();
      batch = {};
    }
    optimizer.step(optimizer);
    zero_grad(optimizer, options.set_to_none);
    observer(step, StepPhase::optimizer);
  }
}

}  // namespace tidemark
