#include "train/loop.h"

#include "base/error.h"

namespace tidemark {
namespace {

/// The `outputs` that TRL's trainers give add_fused_lm_head.  trl: trainer/{sft,dpo,kto,grpo}_trainer.py (1.16.0)
ScoreKinds scores_of(LoopKind loop) {
  return {.entropy = true,
          .mean_logits = has_reference(loop),
          .is_top1 = loop == LoopKind::sft_trainer || loop == LoopKind::dpo_trainer};
}

/// model(**batch)
ModelOutputs call(const Model& model, const Batch& batch, const StepOptions& options) {
  if (has_fused_head(options.loop)) return model.fused_forward(batch, scores_of(options.loop));
  return model.forward(batch);
}

/// Outside of autocast, which is around the model's own forward.
/// accelerate: utils/operations.py (1.15.0), ConvertOutputsToFp32
void convert_to_fp32(Run& run, ModelOutputs& outputs) {
  run.autocast.weights.clear();
  const Setting<bool> enabled(run.autocast.enabled, false);
  const auto convert = [](Tensor& tensor) {
    if (tensor && (tensor.dtype() == Dtype::bf16 || tensor.dtype() == Dtype::f16)) tensor = to(tensor, Dtype::f32);
  };
  ModelOutputs before = outputs;
  convert(outputs.loss);
  for (Tensor& tensor : outputs.held) convert(tensor);
}

}  // namespace

Batch load_batch(const Training& training) {
  Run& run = training.run;
  const BatchSizes& sizes = training.sizes;
  const Dtype pixel_dtype = training.options.pixel_dtype;
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
  batch.image_grid_thw = load(sizes.image_grid_thw, Dtype::int64);
  batch.mm_token_type_ids = load(sizes.mm_token_type_ids, Dtype::int64);
  batch.grid = sizes.grid;
  for (const BatchSizes::Other& other : sizes.others)
    batch.others.push_back(load(other.sizes, other.dtype.value_or(pixel_dtype)));
  if (training.options.loop == LoopKind::kto_trainer) {
    batch.kl_input_ids = load(sizes.input_ids, Dtype::int64);
    batch.kl_attention_mask = load(sizes.attention_mask, Dtype::int64);
    batch.kl_labels = load(sizes.labels, Dtype::int64);
    batch.desirable = load(Dims{batch.input_ids.size(0)}, Dtype::boolean);
  }
  return batch;
}

void begin_pass(const Training& training, Batch& batch, bool is_last) {
  const StepHooks& hooks = training.options.hooks;
  if (hooks.batch_is_loaded) hooks.batch_is_loaded(batch);
  if (hooks.pass_begins) hooks.pass_begins(is_last);
  if (hooks.before_forward) hooks.before_forward();
}

ModelOutputs model_outputs(const Training& training, const Batch& batch) {
  Run& run = training.run;
  const StepOptions& options = training.options;
  const Setting<bool> enabled(run.autocast.enabled, options.autocast);
  run.autocast.dtype = options.autocast_dtype;
  ModelOutputs out;
  if (options.hooks.replace_inputs) {
    Batch inputs = batch;
    options.hooks.replace_inputs(inputs);
    out = call(training.model, inputs, options);
  } else {
    out = call(training.model, batch, options);
  }
  if (options.loop != LoopKind::plain && options.autocast) convert_to_fp32(run, out);
  if (options.hooks.after_forward) options.hooks.after_forward(out);
  run.autocast.weights.clear();
  return out;
}

ModelOutputs forward_outputs(const Training& training, const Batch& batch) {
  ModelOutputs out = model_outputs(training, batch);
  const Tensor& loss = out.loss;
  if (!loss) throw Error(Errc::unsupported, "a model without labels computes no loss to train on", "labels");
  if (!loss.requires_grad())
    throw Error(Errc::bad_value, "the loss does not depend on any trained parameter", "freeze");
  return out;
}

/// use_adapter(model, None), disable_gradient_checkpointing: trl: trainer/utils.py, models/utils.py (1.16.0)
ModelOutputs reference_outputs(const Training& training, const Batch& batch) {
  Run& run = training.run;
  const StepOptions& options = training.options;
  const NoGrad no_grad(run);
  const Setting<bool> adapters(run.adapters_off, true), checkpoints(run.checkpoints_off, true);
  const Setting<bool> evaluates(run.evaluates, training.reference != nullptr);
  const Setting<bool> enabled(run.autocast.enabled, options.autocast);
  run.autocast.dtype = options.autocast_dtype;
  const Model& model = training.reference ? *training.reference : training.model;
  const ScoreKinds kinds = training.reference ? ScoreKinds{} : scores_of(options.loop);
  ModelOutputs out = model.fused_forward(batch, kinds);
  if (options.autocast) convert_to_fp32(run, out);
  run.autocast.weights.clear();
  return out;
}

Tensor forward_loss(const Training& training, const Batch& batch) {
  return std::move(forward_outputs(training, batch).loss);
}

}  // namespace tidemark
