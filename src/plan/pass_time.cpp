#include "plan/pass_time.h"

#include <algorithm>

#include "plan/space.h"

namespace tidemark::plan {
namespace {

/// What a spec divides each pass by.
struct Shares {
  double tp = 1, cp = 1, tokens = 0;
};

Shares shares_of(const Spec& spec) {
  return {.tp = spec.tp ? static_cast<double>(spec.tp->degree) : 1,
          .cp = spec.cp ? static_cast<double>(spec.cp->degree) : 1,
          .tokens = static_cast<double>(samples_per_pass(spec) * std::max<std::int64_t>(spec.seq, 1))};
}

/// Matrices are split along the larger of their sides, and where rows are more than tokens they are those of heads
/// (arXiv 1909.08053, 3); tokens are split among those that share them.
ProductShape shared(ProductShape shape, const Shares& shares) {
  if (shape.m > shares.tokens && shape.k != shares.tokens) {
    shape.m /= shares.tp * shares.cp;
  } else if (shape.k == shares.tokens) {  // the gradient of a weight
    shape.k /= shares.cp;
    (shape.m >= shape.n ? shape.m : shape.n) /= shares.tp;
  } else {
    shape.m /= shares.cp;
    (shape.n >= shape.k ? shape.n : shape.k) /= shares.tp;
  }
  return shape;
}

/// No faster than its operands come, where the table is not the card's own.
double product_seconds(const Spec& spec, const ProductShape& shape, const Machine& machine) {
  const double peak = peak_flops(spec, machine.card, shape.half);
  if (!shape.half) return shape.flops() / (peak * machine.reached.single_products);
  const double seconds = machine.reached.products.peak_flops(shape) / peak;
  if (!machine.reached.is_general) return seconds;
  const double bytes = 2 * (shape.m * shape.k + shape.k * shape.n + shape.m * shape.n);
  return std::max(seconds, bytes / memory_rate(machine));
}

/// By kernels that are neither.
double moved_bytes(const Work& work) {
  const double forward = work.forward_bytes - static_cast<double>(work.parameter_bytes);
  return kForwardTraffic * std::max(forward, 0.0) + kBackwardTraffic * std::max(work.backward_bytes, 0.0);
}

}  // namespace

double peak_flops(const Spec& spec, const Card& card, bool half) {
  const std::int64_t low =
      spec.autocast == Autocast::fp16 || spec.dtype == WeightDtype::fp16 ? card.fp16_flops : card.bf16_flops;
  return static_cast<double>(half && low > 0 ? low : card.fp32_flops);
}

double memory_rate(const Machine& machine) {
  return machine.reached.memory * static_cast<double>(machine.card.memory_bandwidth_bytes_per_s);
}

PassTime pass_time(const Spec& spec, const PassWork& pass, const Machine& machine) {
  const Shares shares = shares_of(spec);
  const Work& work = pass.work;
  PassTime time;
  for (const auto& [shape, count] : work.products) {
    const bool once = count < 0.5 * static_cast<double>(pass.layers);
    (once ? time.outside : time.layers) += count * product_seconds(spec, shared(shape, shares), machine);
  }
  double attention = 0;
  for (const auto& [shape, flops] : work.attention_flops)
    attention += flops / machine.reached.attention_share(shape) / peak_flops(spec, machine.card, true);
  time.layers += (attention + moved_bytes(work) / memory_rate(machine)) / (shares.tp * shares.cp);
  time.forward_part = work.flops > 0 ? work.forward_flops / work.flops : 1.0 / 3;
  const double each = machine.reached.seconds_per_operation;
  time.forward_host = static_cast<double>(work.forward_operations) * each;
  time.backward_host = static_cast<double>(work.operations - work.forward_operations) * each;
  return time;
}

}  // namespace tidemark::plan
