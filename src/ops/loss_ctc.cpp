// torch: aten/src/ATen/native/LossCTC.cpp, ctc_loss; cuda/LossCTC.cu, ctc_loss_gpu_template,
// ctc_loss_backward_gpu_template (2.11.0, 2.15.0): without cuDNN
#include "ops/loss.h"
#include "ops/ops.h"
#include "ops/selection.h"

namespace tidemark {
namespace {

/// How long each sample is, how long its text, and where that begins: at::tensor(…), one after the other.
class Lengths {
 public:
  Lengths(Run& run, std::int64_t samples)
      : offsets_(empty(run, Dims{samples}, Dtype::int64)),
        inputs_(empty(run, Dims{samples}, Dtype::int64)),
        targets_(empty(run, Dims{samples}, Dtype::int64)) {}

 private:
  Tensor offsets_, inputs_, targets_;
};

/// at::where(x == infinity, at::zeros({}), x)
Tensor without_infinity(const Tensor& compared, Tensor x) {
  const Tensor zero = empty(x.run(), Dims{}, x.dtype());
  const Tensor is_infinite = compare("aten::eq", compared);
  return where(is_infinite, zero, std::move(x));
}

/// Texts or alphabets that are large have their gradient by operations on whole tensors, and not by one kernel.
bool is_large(const Tensor& log_probabilities) {
  const std::int64_t steps = log_probabilities.size(0), samples = log_probabilities.size(1);
  return 2 * steps + 24 * samples / 10 + 2 * log_probabilities.size(2) / 10 > 450;
}

/// What is left to subtract from the gradient of blanks, of which there is one more than labels.
void sum_of_blanks(const Tensor& log_alpha) {
  Dims blanks = log_alpha.sizes();
  blanks[2] = blanks[2] / 2 + 1;
  const Tensor both = empty(log_alpha.run(), blanks, log_alpha.dtype());
  const Tensor sum = logsumexp(both, 2, true);
}

Tensors ctc_loss_backward(Backward& call) {
  const Tensor &x = call.saved[0], &likelihood = call.saved[2], &log_alpha = call.saved[3];
  const Lengths lengths(call.run, x.size(1));
  const Tensor log_beta = empty(call.run, log_alpha.sizes(), log_alpha.dtype());
  Tensor gradient = empty(call.run, x.sizes(), x.dtype());
  if (is_large(x)) {
    sum_of_blanks(log_alpha);
    if (call.facts.a != 0) gradient = without_infinity(view(likelihood, {1, x.size(1), 1}), std::move(gradient));
  }
  return {std::move(gradient)};
}

/// res / target_lengths.clamp_min(1): torch: get_clamped_target_length
Tensor divided(Tensor losses, const Tensor& target_lengths) {
  const auto clamped = [&] {
    const Tensor numbers = empty(losses.run(), target_lengths.sizes(), losses.dtype());
    return empty_like(numbers);
  };
  return div(std::move(losses), clamped());
}

}  // namespace

/// Keeps the log-probabilities, the targets, the loss of each sample, and what was summed on the way there.
Tensor ctc_loss(Tensor x, Tensor targets, Tensor target_lengths, LossReduction reduction, bool zero_infinity) {
  const Op op(x, "aten::ctc_loss");
  const Tensor arguments[] = {x, targets, target_lengths};
  Run& run = x.run();
  const std::int64_t steps = x.size(0), samples = x.size(1), longest = targets.elements() / samples;
  const auto computed = [&] {
    const Lengths lengths(run, samples);
    Tensor log_alpha = empty(run, Dims{samples, steps, 2 * longest + 1}, x.dtype());
    Tensor losses = empty(run, Dims{samples}, x.dtype());
    return Tensors{std::move(losses), std::move(log_alpha)};
  };
  Tensors made = computed();
  Tensor losses = std::move(made[0]);
  Tensors saved{x, std::move(targets), alias(losses), std::move(made[1])};
  losses = record(std::move(losses), {std::move(x)},
                  {.name = "CtcLossBackward0",
                   .saved = std::move(saved),
                   .facts = {.a = zero_infinity ? 1 : 0},
                   .backward = ctc_loss_backward});
  if (zero_infinity) losses = without_infinity(losses, losses);
  if (reduction == LossReduction::none) return losses;
  if (reduction == LossReduction::sum) return sum(losses);
  const Tensor of_each = divided(losses, target_lengths);
  return mean(of_each);
}

}  // namespace tidemark
