#include "plan/step_time.h"

#include <algorithm>
#include <cmath>

#include "plan/decision.h"
#include "plan/links.h"
#include "plan/pass_time.h"
#include "plan/space.h"

namespace tidemark::plan {
namespace {

constexpr double kHostMemoryPerSecond = 100e9;  // what the optimizer on the host reads and writes

double degree_of_tp(const Spec& spec) { return spec.tp ? static_cast<double>(spec.tp->degree) : 1; }
double degree_of_pp(const Spec& spec) { return spec.pp ? static_cast<double>(spec.pp->degree) : 1; }

/// FSDP's mixed precision.
struct Policy {
  PolicyDtype param_dtype = PolicyDtype::none, reduce_dtype = PolicyDtype::none;
};

Policy policy_of(const Spec& spec) {
  if (spec.parallel == Parallel::fsdp1 && spec.fsdp1) return {spec.fsdp1->param_dtype, spec.fsdp1->reduce_dtype};
  if (spec.parallel == Parallel::fsdp2 && spec.fsdp2) return {spec.fsdp2->param_dtype, spec.fsdp2->reduce_dtype};
  return {};
}

WeightDtype said_or(PolicyDtype policy, WeightDtype usual) {
  switch (policy) {
    case PolicyDtype::none: break;
    case PolicyDtype::bf16: return WeightDtype::bf16;
    case PolicyDtype::fp16: return WeightDtype::fp16;
    case PolicyDtype::fp32: return WeightDtype::fp32;
  }
  return usual;
}

/// Ranks that share matrices are neighbours, then come those that have other samples, then stages.
RankGroup sharing_matrices(const Spec& spec) {
  const double ranks = degree_of_tp(spec);
  return {ranks, std::min(ranks, static_cast<double>(ranks_per_node(spec)))};
}
RankGroup with_other_samples(const Spec& spec) {
  const double ranks = static_cast<double>(spec.gpus) / (degree_of_tp(spec) * degree_of_pp(spec));
  const double per_node = static_cast<double>(ranks_per_node(spec)) / degree_of_tp(spec);
  return {ranks, std::clamp(per_node, 1.0, std::max(ranks, 1.0))};
}

/// Times of one candidate's parts.
class Parts {
 public:
  Parts(const Spec& spec, const PassWork& pass, const Machine& machine)
      : spec_(spec),
        pass_(pass),
        machine_(machine),
        links_(machine.card, machine.reached, machine.network_bytes_per_s),
        stages_(degree_of_pp(spec)),
        passes_(static_cast<double>(spec.grad_accumulation * (spec.pp ? spec.pp->microbatches : 1))),
        others_(with_other_samples(spec)) {}

  /// The bubble of a pipeline is that of GPipe and of 1F1B alike (arXiv 2104.04473, 2.2): the first micro-batch goes
  /// through all stages, of which the last has the head besides.
  double step() const {
    const PassTime time = pass_time(spec_, pass_, machine_);
    const double compute = stage(time, time.outside);
    const double bubble = (stages_ - 1) * stage(time, time.outside / stages_);
    return compute * passes_ + bubble + exposed_between_ranks(compute) + accumulation() + optimizer();
  }

 private:
  /// Bytes of a number, of a weight: as it computes, as gradients are reduced, and as the optimizer has it.  FSDP's
  /// mixed precision tells them apart.
  double computed_bytes() const { return bytes_of(computed_dtype(spec_)); }
  double reduced_bytes() const { return bytes_of(said_or(policy_of(spec_).reduce_dtype, computed_dtype(spec_))); }
  double kept_bytes() const { return bytes_of(spec_.dtype); }
  static double bytes_of(WeightDtype dtype) { return dtype == WeightDtype::fp32 ? 4 : 2; }

  double tokens() const { return static_cast<double>(samples_per_pass(spec_) * std::max<std::int64_t>(spec_.seq, 1)); }
  /// Of what goes from layer to layer.
  double hidden_bytes() const {
    const double each = spec_.autocast == Autocast::none ? computed_bytes() : 2;
    return tokens() * static_cast<double>(pass_.hidden_size) * each;
  }
  double layers() const { return static_cast<double>(std::max<std::int64_t>(pass_.layers, 1)); }

  /// Kernels and collectives follow each other on the card; the host is ahead of them, or they wait for it, in forward
  /// passes as in the backward pass: what it gains in the one is of no use in the other, which calls other kernels.
  double stage(const PassTime& time, double outside) const {
    const double card = (time.layers + alike_on_all_ranks() + sent_within_layers()) / stages_ + outside;
    const double calls = collectives_within_layers() / stages_ + calls_between_stages();
    const double called = calls * machine_.reached.seconds_per_collective;
    const double forward_calls = spec_.tp && runs_again() ? 2.0 / 3 : 0.5;  // as reductions() has them
    const double forward = std::max(card * time.forward_part, time.forward_host / stages_ + called * forward_calls);
    const double backward =
        std::max(card * (1 - time.forward_part), time.backward_host / stages_ + called * (1 - forward_calls));
    return forward + backward + sent_between_stages();
  }

  bool runs_again() const { return spec_.checkpointing != Checkpointing::none; }

  /// Tensor parallelism reduces twice per layer in either pass (arXiv 1909.08053, 3), and again where the forward pass
  /// is repeated; context parallelism sends keys and values around, forth, and with their gradients back.
  double reductions() const { return spec_.tp ? (runs_again() ? 6 : 4) * layers() : 0; }
  double rounds() const { return spec_.cp ? 3 * layers() : 0; }
  double collectives_within_layers() const { return reductions() + rounds(); }

  double sent_within_layers() const {
    double seconds = 0;
    if (spec_.tp)
      seconds += reductions() * links_.seconds(Collective::all_reduce, hidden_bytes(), sharing_matrices(spec_));
    if (spec_.cp) {
      const auto ranks = static_cast<double>(spec_.cp->degree);
      const RankGroup ring{ranks, std::min(ranks, others_.per_node)};
      seconds += rounds() * links_.seconds(Collective::all_gather, 2 * hidden_bytes(), ring);
    }
    return seconds;
  }

  /// Without sequence parallelism, ranks that share matrices each do the whole of what lies between these (arXiv
  /// 2205.05198, 4.2): two norms and two sums per layer, in the backward pass the gradients of both.  pass_time() has
  /// divided it by their number.
  double alike_on_all_ranks() const {
    if (!spec_.tp || spec_.tp->sequence_parallel) return 0;
    const double written = 4 * hidden_bytes() * layers();
    const double moved = (runs_again() ? 2 : 1) * kForwardTraffic * written + kBackwardTraffic * written;
    return (1 - 1 / degree_of_tp(spec_)) * moved / memory_rate(machine_);
  }

  bool is_pipeline() const { return spec_.pp && stages_ > 1; }
  bool gathers_between_stages() const {
    return machine_.parts_between_stages && spec_.tp && !spec_.tp->sequence_parallel;
  }
  /// Either pass receives and sends.
  double calls_between_stages() const { return is_pipeline() ? (gathers_between_stages() ? 6 : 4) : 0; }

  /// What a layer made, and its gradient, for which the next stage waits.
  double sent_between_stages() const {
    if (!is_pipeline()) return 0;
    const double apart = static_cast<double>(spec_.gpus) / stages_;
    const bool has_parts = spec_.tp && (spec_.tp->sequence_parallel || machine_.parts_between_stages);
    const double bytes = hidden_bytes() / (has_parts ? degree_of_tp(spec_) : 1);
    double seconds = links_.hop_seconds(bytes, apart < static_cast<double>(ranks_per_node(spec_)));
    if (gathers_between_stages())
      seconds += links_.seconds(Collective::all_gather, hidden_bytes(), sharing_matrices(spec_));
    return 2 * seconds;
  }

  /// Bytes of weights and of gradients that this rank's part of the model has.
  double weights() const { return static_cast<double>(pass_.work.parameter_bytes) / (degree_of_tp(spec_) * stages_); }
  double gradients() const { return static_cast<double>(pass_.work.trained_bytes) / (degree_of_tp(spec_) * stages_); }
  /// Of the trained weights that this rank updates, in the optimizer's type.
  double updated() const {
    using enum Parallel;
    const bool shards = spec_.parallel != none && spec_.parallel != ddp && spec_.parallel != ep;
    return gradients() * kept_bytes() / computed_bytes() / (shards ? others_.ranks : 1);
  }

  double in_pieces(Collective operation, double bytes, double pieces) const {
    return pieces * links_.seconds(operation, bytes / pieces, others_);
  }
  /// A message for each layer.
  double by_layers(Collective operation, double bytes) const {
    return in_pieces(operation, bytes, std::max(layers() / stages_, 1.0));
  }

  /// Computing hides what is sent meanwhile, but for the first piece of it or the last, and is slower beside the rest,
  /// which takes multiprocessors from it.
  double exposed(double sent, double compute, double pieces) const {
    const double alone = sent / pieces;
    return std::max(sent - compute, alone + (1 - machine_.reached.beside_collectives) * (sent - alone));
  }
  double exposed(double sent, double compute) const { return exposed(sent, compute, layers() + 1); }

  /// Of DDP, which reduces each when all of its gradients are there.
  double buckets() const {
    const double cap = (spec_.ddp ? spec_.ddp->bucket_cap_mb : DdpSpec{}.bucket_cap_mb) * 1024 * 1024;
    return std::max(1.0, std::ceil(gradients() / cap));
  }

  /// What computing does not hide of what ranks send each other.
  double exposed_between_ranks(double compute) const {
    using enum Parallel;
    if (others_.ranks <= 1) return 0;
    const double passes = static_cast<double>(spec_.grad_accumulation);
    const double backward = compute * 2 / 3;  // of a pass: twice the products of the forward pass
    switch (spec_.parallel) {
      case ddp: {
        const bool last_alone = spec_.ddp && spec_.ddp->no_sync;
        const double reduce = in_pieces(Collective::all_reduce, gradients(), buckets());
        return (last_alone || spec_.pp ? 1 : passes) * exposed(reduce, backward, buckets());
      }
      case zero1: return reduced() + gathered_trained();  // overlap_comm is off
      case zero2: return passes * reduced() + gathered_trained();
      case zero3: {
        const bool from_host = spec_.zero && spec_.zero->offload_param == Offload::cpu;
        const double copied = from_host ? links_.host_seconds(2 * weights() / others_.ranks) : 0;
        return passes * exposed(2 * gathered() + reduced() + copied, compute);
      }
      case fsdp1:
      case fsdp2: {
        const double again = keeps_gathered() ? 0 : gathered();
        return passes * (exposed(gathered(), compute - backward) + exposed(again + reduced(), backward) + copies());
      }
      case gemini: return passes * (2 * gathered() + reduced());
      case ep: return passes * 2 * sent_to_experts();
      case none: return 0;
    }
    return 0;
  }

  double gathered() const { return by_layers(Collective::all_gather, weights()); }
  double gathered_trained() const { return by_layers(Collective::all_gather, gradients()); }
  double reduced() const {
    return by_layers(Collective::reduce_scatter, gradients() * reduced_bytes() / computed_bytes());
  }

  /// All tokens go around twice per layer and pass (docs/design/experts.md).
  double sent_to_experts() const {
    return 2 * layers() * links_.seconds(Collective::alltoall, hidden_bytes() * others_.ranks, others_);
  }

  /// FSDP 2 copies what it has gathered to each parameter, and gradients to what it reduces, on the stream that
  /// computes (torch 2.11.0, distributed/fsdp/_fully_shard/_fsdp_collectives.py).  FSDP 1 has views of both, casts
  /// gradients to the type that they are reduced in, and divides them before that (distributed/fsdp/_runtime_utils.py,
  /// _post_backward_hook, _reduce_grad).
  double copies() const {
    const double cast = gradients() * reduced_bytes() / computed_bytes();
    if (spec_.parallel == Parallel::fsdp2)
      return (2 * (keeps_gathered() ? 1 : 2) * weights() + gradients() + cast) / memory_rate(machine_);
    return (2 * cast + (cast != gradients() ? gradients() + cast : 0)) / memory_rate(machine_);
  }

  bool keeps_gathered() const {
    if (spec_.fsdp1) return spec_.fsdp1->sharding_strategy == ShardingStrategy::shard_grad_op;
    return spec_.fsdp2 && spec_.fsdp2->reshard_after_forward == "false";
  }

  /// A gradient that is there already is read, with the new one, and written: of a shard, where gradients are reduced
  /// in every pass.
  double accumulation() const {
    const bool whole = spec_.parallel == Parallel::zero1;
    return (passes_ - 1) * 3 * (whole ? gradients() : updated()) / memory_rate(machine_);
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
    if (is_of_bitsandbytes(spec_.optimizer)) return clipping + 7;
    return clipping + 13;
  }

  /// On the host where the states are there, with gradients and weights going over PCI Express.
  double optimizer() const {
    const double trained = updated();
    const bool is_on_host = (spec_.zero && spec_.zero->offload_optimizer == Offload::cpu) ||
                            (spec_.fsdp2 && spec_.fsdp2->offload_policy == Offload::cpu);
    if (is_on_host) return links_.host_seconds(2 * trained) + traffic() * trained / kHostMemoryPerSecond;
    return traffic() * trained / memory_rate(machine_);
  }

  const Spec& spec_;
  const PassWork& pass_;
  const Machine& machine_;
  const Links links_;
  const double stages_, passes_;
  const RankGroup others_;
};

}  // namespace

WeightDtype computed_dtype(const Spec& spec) { return said_or(policy_of(spec).param_dtype, spec.dtype); }

StepTime step_time(const Spec& spec, const PassWork& pass, const Machine& machine) {
  const double seconds = Parts(spec, pass, machine).step();
  return {seconds, seconds * machine.reached.band.low, seconds * machine.reached.band.high, machine.reached.is_general};
}

}  // namespace tidemark::plan
