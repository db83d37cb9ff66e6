// The loop of transformers.Trainer over accelerate.
// transformers: trainer.py (5.17.0), _run_epoch, training_step; accelerate: accelerator.py, data_loader.py (1.15.0)
#include "ops/in_place.h"
#include "ops/pointwise.h"
#include "tensor/engine.h"
#include "train/clip.h"
#include "train/grad_scaler.h"
#include "train/grpo.h"
#include "train/loop.h"
#include "train/preference_loss.h"
#include "train/sft_loss.h"

namespace tidemark {
namespace {

class TrainerLoop {
 public:
  explicit TrainerLoop(const Training& training)
      : training_(training), run_(training.run), options_(training.options), scaler_(options_.grad_scaler) {}

  void step(const PhaseEnds& phase_ends) {
    begin(StepPhase::forward);
    if (!total_loss_) begin_training();
    take_batches();
    for (std::size_t micro = 0; micro < batches_.size(); ++micro) {
      const bool is_last = micro + 1 == batches_.size(), steps_within = is_last && options_.hooks.is_engine;
      begin(StepPhase::forward);
      inputs_ = batches_[micro];
      begin_pass(training_, inputs_, is_last);
      Tensor loss = compute_loss(static_cast<std::int64_t>(micro));
      phase_ends(StepPhase::forward);
      begin(StepPhase::backward);
      backward_pass(loss, is_last);
      if (steps_within) engine_step(phase_ends);
      loss_ = detach(loss);
      loss.reset();
      if (options_.hooks.batch_is_done) options_.hooks.batch_is_done(inputs_);
      look_at_loss();
      if (!steps_within) phase_ends(StepPhase::backward);
    }
    if (!options_.hooks.is_engine) optimizer_step();
    name_state(training_.optimizer);
    phase_ends(StepPhase::optimizer);
  }

 private:
  void begin(StepPhase phase) { run_.stage.part = static_cast<int>(phase); }

  /// DeepSpeedEngineWrapper.backward steps, and the optimizer's own calls do nothing.  accelerate: utils/deepspeed.py
  void engine_step(const PhaseEnds& phase_ends) {
    phase_ends(StepPhase::backward);
    begin(StepPhase::optimizer);
    options_.hooks.step(training_.optimizer);
  }

  void optimizer_step() {
    begin(StepPhase::optimizer);
    const Setting<bool> on_host(run_.on_host, options_.hooks.has_gradients_on_host);
    norm_.reset();
    scaler_.unscale(training_.optimizer);
    norm_ = clip_grad_norm(training_.optimizer, options_.hooks.reduce_norms);
    scaler_.step(training_.optimizer);
    scaler_.update();
    zero_grad(training_.optimizer, true);
  }

  void begin_training() {
    const Setting<Category> category(run_.category, Category::other);
    total_loss_ = empty(run_, Dims{}, Dtype::f32);
  }

  /// get_batch_samples: all batches of a step are there before its first pass, and those of the last step until then.
  void take_batches() {
    const bool makes_batches = options_.loop == LoopKind::grpo_trainer;  // itself, of prompts on the host
    if (makes_batches) return batches_.resize(static_cast<std::size_t>(options_.grad_accumulation));
    std::vector<Batch> batches;
    for (std::int64_t i = 0; i < options_.grad_accumulation; ++i) batches.push_back(load_batch(training_));
    Tensor items = is_of_preferences(options_.loop) ? Tensor() : count_items(batches);
    batches_ = std::move(batches);
    items_ = std::move(items);
  }

  /// sum(batch["labels"][..., 1:].ne(-100).sum() for batch in batches)
  Tensor count_items(const std::vector<Batch>& batches) {
    const Setting<Category> category(run_.category, Category::other);
    Tensor total;
    for (const Batch& batch : batches) {
      const Tensor& labels = batch.labels;
      const Tensor counted = labels.dims() > 1 ? slice(labels, -1, 1, labels.size(-1)) : labels;
      const Tensor count = count_true(compare("aten::ne", counted));
      total = total ? add(total, count) : add_scalar(count);
    }
    if (options_.processes > 1) total = summed_over_processes(total);
    if (!options_.divided_items) return total;
    const Op op(total, "aten::div");
    return empty(run_, Dims{}, *options_.divided_items);
  }

  /// accelerator.gather(total).sum().  accelerate: utils/operations.py, _gpu_gather
  Tensor summed_over_processes(Tensor total) {
    Tensor copy = clone(total);
    const Setting<Category> category(run_.category, Category::communication);
    const Op op(run_, "aten::empty");
    const Tensor gathered = empty(run_, {options_.processes}, total.dtype());
    copy.reset();
    total.reset();
    return sum(gathered);
  }

  /// The sum over labels by how many they are, then times the number of processes; of preferences by how many passes a
  /// step has.  trl: trainer/{dpo,kto,reward}_trainer.py, loss_is_scaled_for_ga (1.16.0)
  Tensor compute_loss(std::int64_t micro) {
    if (options_.loop == LoopKind::grpo_trainer) {
      if (micro == 0) completions_ = scored_completions(training_);
      return grpo_loss(training_, of_pass(completions_, micro, options_.grad_accumulation));
    }
    if (is_of_preferences(options_.loop)) return div_scalar(preference_loss(training_, inputs_));
    const Setting<Tensor> items(run_.num_items_in_batch, options_.loss_takes_items ? items_ : Tensor());
    if (options_.loop != LoopKind::sft_trainer) return scale_(forward_loss(training_, inputs_));
    const auto gathered_sum = [this](Tensor one) {
      return options_.processes > 1 ? summed_over_processes(std::move(one)) : sum(std::move(one));
    };
    return sft_loss(forward_outputs(training_, inputs_), inputs_.attention_mask, items_, gathered_sum);
  }

  /// Accelerator.backward divides by its own number of accumulated steps, 1, but for DeepSpeed's engine.
  void backward_pass(const Tensor& loss, bool is_last) {
    if (options_.hooks.is_engine) return options_.hooks.backward(loss, is_last);
    const Tensor divided = div_scalar(loss);
    if (options_.hooks.backward)
      options_.hooks.backward(divided, is_last);
    else
      backward(scaler_.scale(divided));
    if (options_.hooks.after_backward) options_.hooks.after_backward();
  }

  /// torch.isnan(loss) or torch.isinf(loss); total += loss
  void look_at_loss() {
    const NoGrad no_grad(run_);
    const Setting<Category> category(run_.category, Category::other);
    compare("aten::isnan", loss_);
    compare("aten::isinf", abs(loss_));
  }

  const Training training_;
  Run& run_;
  const StepOptions& options_;
  GradScaler scaler_;
  std::vector<Batch> batches_;
  Batch inputs_;
  Completions completions_;
  Tensor items_, loss_, total_loss_, norm_;
};

}  // namespace

Loop trainer_loop(const Training& training) {
  return [loop = std::make_shared<TrainerLoop>(training)](const PhaseEnds& phase_ends) { loop->step(phase_ends); };
}

}  // namespace tidemark
