#include "plan/step_time.h"

#include <algorithm>
#include <cmath>

#include "plan/decision.h"
#include "plan/space.h"

namespace tidemark::plan {
namespace {

/// What part of a card's peak rates its kernels reach: what is expected, and the ends of the band.
struct Efficiency {
  double products = 0, attention = 0, attention_backward = 0, memory = 0, link = 0;
  double seconds_per_operation = 0;
};

/// Products: 80 to 90 % are what tuned kernels reach at best (arXiv 2307.08691, 1); at sizes of training, under a power
/// limit, less.  Attention: 50 to 73 % on A100 (ibid., abstract; less in the backward pass), 35 % on H100, for which
/// these kernels were not written (arXiv 2407.08608, abstract).  Memory and links: what long copies reach.  Operations:
/// what Python and the dispatcher need for one, which is what a small model takes.  None is fitted to a measured
/// training.
Efficiency expected(const Card& card) {
  const bool is_hopper_or_later = card.compute_capability_major >= 9;
  return {.products = 0.7,
          .attention = is_hopper_or_later ? 0.35 : 0.6,
          .attention_backward = is_hopper_or_later ? 0.3 : 0.5,
          .memory = 0.85,
          .link = 0.8,
          .seconds_per_operation = 6e-6};
}

constexpr double kLow = 0.75, kHigh = 1.5;  // of the estimate: products at 93 % of the peak, and at 47 %

constexpr double kBetweenNodesPerSecond = 50e9;  // of each GPU: an InfiniBand port of 400 Gb/s; not said by any spec
constexpr double kHostMemoryPerSecond = 100e9;   // what the optimizer on the host reads and writes

/// One direction of PCI Express with 16 lanes (PCI-SIG: 3.0, 4.0, 5.0), by the generation that cards have.
double host_link_per_second(const Card& card) {
  return card.compute_capability_major >= 9 ? 63.0e9 : card.compute_capability_major == 8 ? 31.5e9 : 15.75e9;
}

/// Times of one candidate's parts.
class Parts {
 public:
  Parts(const Spec& spec, const PassWork& pass, const Card& card)
      : spec_(spec),
        pass_(pass),
        card_(card),
        reached_(expected(card)),
        parts_(static_cast<double>((spec.tp ? spec.tp->degree : 1) * (spec.cp ? spec.cp->degree : 1))),
        stages_(static_cast<double>(spec.pp ? spec.pp->degree : 1)),
        passes_(static_cast<double>(spec.grad_accumulation * (spec.pp ? spec.pp->microbatches : 1))),
        ranks_(static_cast<double>(spec.gpus) / ((spec.tp ? static_cast<double>(spec.tp->degree) : 1.0) * stages_)) {}

  /// The bubble of a pipeline is that of GPipe and of 1F1B alike (arXiv 2104.04473, 2.2).
  double step() const {
    const double compute = pass_compute() / stages_ + sent_within_layers() / stages_;
    const double bubble = spec_.pp ? (passes_ + stages_ - 1) / passes_ : 1;
    return compute * passes_ * bubble + exposed_between_ranks(compute) + optimizer();
  }

 private:
  double flops_rate(bool half) const {
    const std::int64_t low =
        spec_.autocast == Autocast::fp16 || spec_.dtype == WeightDtype::fp16 ? card_.fp16_flops : card_.bf16_flops;
    return static_cast<double>(half && low > 0 ? low : card_.fp32_flops);
  }

  /// Kernels follow each other; the host is ahead of them, or they wait for it.
  double pass_compute() const {
    const Work& work = pass_.work;
    const double products = work.half_flops / flops_rate(true) + work.single_flops / flops_rate(false);
    const double attention =
        work.attention_flops / reached_.attention + work.attention_backward_flops / reached_.attention_backward;
    const double written = std::max(work.allocated_bytes - static_cast<double>(work.parameter_bytes), 0.0);
    const double memory =
        2 * written / static_cast<double>(card_.memory_bandwidth_bytes_per_s) / reached_.memory;  // as much is read
    const double kernels = (products / reached_.products + attention / flops_rate(true) + memory) / parts_;
    return std::max(kernels, static_cast<double>(work.operations) * reached_.seconds_per_operation);
  }

  bool is_within_node() const { return ranks_per_node(spec_) >= spec_.gpus; }
  double link_per_second(bool within_node) const {
    const auto inside = static_cast<double>(card_.link.bytes_per_s);
    return reached_.link * (within_node || inside < kBetweenNodesPerSecond ? inside : kBetweenNodesPerSecond);
  }

  /// Bus bandwidth of nccl-tests (doc/PERFORMANCE.md): each rank's part of an all_gather or reduce_scatter; an
  /// all_reduce is both.
  static double share(double ranks) { return (ranks - 1) / ranks; }

  /// Tensor parallelism reduces twice per layer in either pass (arXiv 1909.08053, 3); context parallelism sends keys
  /// and values around, forth, and with their gradients back.
  double sent_within_layers() const {
    const auto tokens = static_cast<double>(samples_per_pass(spec_) * std::max<std::int64_t>(spec_.seq, 1));
    const auto width = static_cast<double>(pass_.hidden_size) * (spec_.dtype == WeightDtype::fp32 ? 4 : 2);
    const auto layers = static_cast<double>(pass_.layers);
    double bytes = 0;
    if (spec_.tp) bytes += 4 * layers * tokens * width * 2 * share(static_cast<double>(spec_.tp->degree));
    if (spec_.cp) bytes += 3 * layers * 2 * tokens * width * share(static_cast<double>(spec_.cp->degree));
    return bytes > 0 ? bytes / link_per_second(true) : 0;
  }

  /// Bytes of weights and of gradients that this rank's part of the model has.
  double weights() const { return static_cast<double>(pass_.work.parameter_bytes) / (tp() * stages_); }
  double gradients() const { return static_cast<double>(pass_.work.trained_bytes) / (tp() * stages_); }
  double tp() const { return spec_.tp ? static_cast<double>(spec_.tp->degree) : 1; }

  /// What computing does not hide of what ranks send each other.
  double exposed_between_ranks(double compute) const {
    using enum Parallel;
    if (ranks_ <= 1) return 0;
    const double rate = link_per_second(is_within_node()), part = share(ranks_);
    const double backward = compute * 2 / 3;  // of a pass: twice the products of the forward pass
    const double reduce = part * gradients() / rate, gather = part * weights() / rate;
    const double gather_trained = part * gradients() / rate;
    const double passes = static_cast<double>(spec_.grad_accumulation);
    switch (spec_.parallel) {
      case ddp: {
        const bool last_alone = spec_.ddp && spec_.ddp->no_sync;
        return (last_alone ? 1 : passes) * std::max(2 * reduce - backward, 0.05 * 2 * reduce);
      }
      case zero1: return reduce + gather_trained;  // overlap_comm is off
      case zero2: return passes * reduce + gather_trained;
      case zero3: {
        const bool from_host = spec_.zero && spec_.zero->offload_param == Offload::cpu;
        const double copied = from_host ? 2 * weights() / ranks_ / host_link_per_second(card_) : 0;
        const double sent = 2 * gather + reduce + copied;
        return passes * std::max(sent - compute, 0.1 * sent);
      }
      case fsdp1:
      case fsdp2: {
        const double gathers = keeps_gathered() ? gather : 2 * gather;
        return passes * std::max(gathers + reduce - compute, 0.05 * (gathers + reduce));
      }
      case gemini: return passes * (2 * gather + reduce);
      case ep: return passes * 2 * sent_to_experts();
      case none: return 0;
    }
    return 0;
  }

  /// All tokens go around twice per layer and pass (docs/design/experts.md).
  double sent_to_experts() const {
    const auto tokens = static_cast<double>(samples_per_pass(spec_) * std::max<std::int64_t>(spec_.seq, 1));
    return 2 * static_cast<double>(pass_.layers) * tokens * static_cast<double>(pass_.hidden_size) * 2 * share(ranks_) /
           link_per_second(is_within_node());
  }

  bool keeps_gathered() const {
    if (spec_.fsdp1) return spec_.fsdp1->sharding_strategy == ShardingStrategy::shard_grad_op;
    return spec_.fsdp2 && spec_.fsdp2->reshard_after_forward == "false";
  }

  /// Times that each trained byte is read or written, counted in torch 2.11.0's optim/adam.py: one fused kernel reads
  /// weight, gradient and two states, and writes all but the gradient; _multi_tensor_adam has a kernel for each of
  /// mul_, lerp_, mul_, addcmul_, sqrt, div_, add_, addcdiv_, and a loop has the same.  SGD has one add_; others about
  /// what rmsprop.py has (mul_, addcmul_, sqrt, add_, addcdiv_).  DeepSpeed has a fused Adam.  Clipping reads, scales.
  double traffic() const {
    using enum OptimizerName;
    using enum Parallel;
    const double clipping = spec_.max_grad_norm ? 3 : 0;
    const bool is_deepspeed = spec_.parallel == zero1 || spec_.parallel == zero2 || spec_.parallel == zero3;
    const bool is_adam = spec_.optimizer == adamw || spec_.optimizer == adam;
    if (spec_.optimizer == sgd) return clipping + (spec_.momentum > 0 ? 6 : 3);
    if (is_adam) return clipping + (is_deepspeed || spec_.optimizer_impl == OptimizerImpl::fused ? 7 : 20);
    return clipping + 13;
  }

  /// On the host where the states are there, with gradients and weights going over PCI Express.
  double optimizer() const {
    using enum Parallel;
    const bool shards = spec_.parallel != none && spec_.parallel != ddp && spec_.parallel != ep;
    const double trained = gradients() / (shards ? ranks_ : 1);
    const bool is_on_host = (spec_.zero && spec_.zero->offload_optimizer == Offload::cpu) ||
                            (spec_.fsdp2 && spec_.fsdp2->offload_policy == Offload::cpu);
    if (is_on_host) return 2 * trained / host_link_per_second(card_) + traffic() * trained / kHostMemoryPerSecond;
    return traffic() * trained / static_cast<double>(card_.memory_bandwidth_bytes_per_s) / reached_.memory;
  }

  const Spec& spec_;
  const PassWork& pass_;
  const Card& card_;
  const Efficiency reached_;
  const double parts_, stages_, passes_, ranks_;
};

}  // namespace

StepTime step_time(const Spec& spec, const PassWork& pass, const Card& card) {
  const double seconds = Parts(spec, pass, card).step();
  return {seconds, seconds * kLow, seconds * kHigh};
}

}  // namespace tidemark::plan
