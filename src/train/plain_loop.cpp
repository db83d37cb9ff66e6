#include "tensor/engine.h"
#include "train/clip.h"
#include "train/grad_scaler.h"
#include "train/loop.h"

namespace tidemark {
namespace {

class PlainLoop {
 public:
  explicit PlainLoop(const Training& training)
      : training_(training),
        run_(training.run),
        optimizer_(training.optimizer),
        options_(training.options),
        scaler_(options_.grad_scaler) {}

  void step(const PhaseEnds& phase_ends) {
    zero_grad_at(ZeroGradPlace::before_forward);
    for (std::int64_t micro = 0; micro < options_.grad_accumulation; ++micro) {
      begin(StepPhase::forward);
      Batch batch = load_batch(training_);
      if (options_.hooks.passes) {
        both_passes(batch, phase_ends);
        continue;
      }
      const bool is_last = micro + 1 == options_.grad_accumulation;
      begin_pass(training_, batch, is_last);
      run_.repetition.let_go(std::exchange(loss_, forward_loss(training_, batch)), loss_);
      if (options_.hooks.loop_keeps_loss) batch = {};
      phase_ends(StepPhase::forward);
      if (micro == 0) zero_grad_at(ZeroGradPlace::before_backward);
      begin(StepPhase::backward);
      backward_pass(is_last);
      if (options_.hooks.batch_is_done) options_.hooks.batch_is_done(batch);
      phase_ends(StepPhase::backward);
      if (!options_.hooks.loop_keeps_loss) loss_.reset();
    }
    begin(StepPhase::optimizer);
    optimizer_step();
    name_state(optimizer_);
    zero_grad_at(ZeroGradPlace::after_step);
    phase_ends(StepPhase::optimizer);
  }

 private:
  void begin(StepPhase phase) { run_.stage.part = static_cast<int>(phase); }

  void zero_grad_at(ZeroGradPlace place) {
    if (options_.zero_grad == place) zero_grad(optimizer_, options_.set_to_none);
  }

  void both_passes(Batch& batch, const PhaseEnds& phase_ends) {
    StepPhase now = StepPhase::forward;
    options_.hooks.passes(batch, [&](StepPhase next) {
      if (next == now) return;
      phase_ends(now);
      begin(now = next);
    });
    batch = {};
    phase_ends(now);
  }

  void backward_pass(bool is_last) {
    if (options_.hooks.backward) return options_.hooks.backward(loss_, is_last);
    backward(scaler_.scale(loss_));
    if (options_.hooks.after_backward) options_.hooks.after_backward();
  }

  void optimizer_step() {
    if (options_.hooks.step) return options_.hooks.step(optimizer_);
    if (options_.max_grad_norm) {
      scaler_.unscale(optimizer_);
      if (options_.hooks.clip_grad_norm)
        options_.hooks.clip_grad_norm();
      else
        clip_grad_norm(optimizer_, options_.hooks.reduce_norms);
    }
    scaler_.step(optimizer_);
    scaler_.update();
  }

  const Training training_;
  Run& run_;
  Optimizer& optimizer_;
  const StepOptions& options_;
  GradScaler scaler_;
  Tensor loss_;
};

}  // namespace

Loop plain_loop(const Training& training) {
  return [loop = std::make_shared<PlainLoop>(training)](const PhaseEnds& phase_ends) { loop->step(phase_ends); };
}

}  // namespace tidemark
