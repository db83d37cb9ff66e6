// How GPUs share the work.
#include <algorithm>

#include "plan/decision_blocks.h"

namespace tidemark::plan {
namespace {

std::int64_t node_of(const Bounds& bounds) { return bounds.gpus_per_node > 0 ? bounds.gpus_per_node : bounds.gpus; }

/// Those that share one matrix, or the layers of one model.
std::int64_t model_ranks(const Spec& spec) { return (spec.tp ? spec.tp->degree : 1) * (spec.pp ? spec.pp->degree : 1); }

/// Degrees of a split that stays within a node, as those with much traffic do.
std::vector<Spec> tensor_parallel(const Spec& spec, const Bounds& bounds) {
  std::vector<Spec> others;
  if (spec.tp) others.emplace_back(spec).tp.reset();
  for (const std::int64_t degree : divisors(std::min(node_of(bounds), bounds.gpus))) {
    if (degree == 1 || bounds.gpus % degree != 0) continue;
    for (const bool sequence : {false, true}) {
      if (spec.tp && spec.tp->degree == degree && spec.tp->sequence_parallel == sequence) continue;
      TpSpec tp = spec.tp.value_or(TpSpec{});
      tp.degree = degree;
      tp.sequence_parallel = sequence;
      if (sequence && !tp.plan.is_null()) continue;  // of the default plan alone
      others.emplace_back(spec).tp = std::move(tp);
    }
  }
  return others;
}

/// With sequence parallelism what goes between stages would be DTensors (docs/howto/many-gpus.md).
std::vector<Spec> pipeline(const Spec& spec, const Bounds& bounds) {
  std::vector<Spec> others;
  if (spec.pp) others.emplace_back(spec).pp.reset();
  if (spec.tp && spec.tp->sequence_parallel) return others;
  for (const std::int64_t degree : divisors(bounds.gpus / (spec.tp ? spec.tp->degree : 1))) {
    if (degree == 1) continue;
    for (const PipelineSchedule schedule : {PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe}) {
      if (spec.pp && spec.pp->degree == degree && spec.pp->schedule == schedule) continue;
      PipelineSpec pp = spec.pp.value_or(PipelineSpec{});
      if (pp.degree != degree) pp.layers.clear();
      pp.degree = degree;
      pp.schedule = schedule;
      pp.stages_per_rank = 1;
      others.emplace_back(spec).pp = std::move(pp);
    }
  }
  return others;
}

std::vector<Spec> context_parallel(const Spec& spec, const Bounds& bounds) {
  std::vector<Spec> others;
  if (spec.cp) others.emplace_back(spec).cp.reset();
  if (spec.tp || spec.pp || spec.images > 0) return others;
  for (const std::int64_t degree : divisors(bounds.gpus)) {
    const std::int64_t pieces = 2 * degree;  // CpSpec::load_balance
    if (degree == 1 || spec.seq == 0 || spec.seq % pieces != 0) continue;
    for (const RotateMethod method : {RotateMethod::allgather, RotateMethod::alltoall}) {
      if (spec.cp && spec.cp->degree == degree && spec.cp->rotate_method == method) continue;
      CpSpec cp = spec.cp.value_or(CpSpec{});
      cp.degree = degree;
      cp.rotate_method = method;
      others.emplace_back(spec).cp = cp;
    }
  }
  return others;
}

/// Those that can stand beside what splits the model (docs/howto/many-gpus.md, "Several at once").
std::vector<Parallel> known_beside(const Spec& spec, std::int64_t gpus) {
  using enum Parallel;
  if (gpus == model_ranks(spec)) return {none};
  if (spec.tp && spec.pp) return {fsdp2};
  if (spec.tp || spec.pp || spec.cp) return {ddp, fsdp2};
  return {ddp, zero1, zero2, zero3, fsdp1, fsdp2, ep};
}

std::vector<Spec> data_parallel(const Spec& spec, const Bounds& bounds) {
  std::vector<Spec> others;
  for (const Parallel parallel : known_beside(spec, bounds.gpus))
    if (parallel != spec.parallel) others.push_back(with_parallel(spec, parallel));
  return others;
}

bool cannot_share(const Spec& spec, const Bounds& bounds) {
  const bool alone = bounds.gpus == model_ranks(spec);
  if (spec.parallel == Parallel::gemini) return alone || spec.tp || spec.pp || spec.cp;
  const std::vector<Parallel> known = known_beside(spec, bounds.gpus);
  return std::find(known.begin(), known.end(), spec.parallel) == known.end();
}

/// DeepSpeed's offload_optimizer and offload_param, torch's CPUOffloadPolicy.
std::vector<Spec> offload(const Spec& spec, const Bounds&) {
  using enum Parallel;
  std::vector<Spec> others;
  const auto zero = [&](Offload optimizer, Offload param) {
    ZeroSpec options = spec.zero.value_or(ZeroSpec{});
    if (options.offload_optimizer == optimizer && options.offload_param == param) return;
    options.offload_optimizer = optimizer;
    options.offload_param = param;
    others.emplace_back(spec).zero = options;
  };
  if (spec.parallel == zero1 || spec.parallel == zero2 || spec.parallel == zero3) {
    zero(Offload::none, Offload::none);
    zero(Offload::cpu, Offload::none);
    if (spec.parallel == zero3) zero(Offload::cpu, Offload::cpu);
  } else if (spec.parallel == fsdp2) {
    Fsdp2Spec options = spec.fsdp2.value_or(Fsdp2Spec{});
    options.offload_policy = options.offload_policy == Offload::cpu ? Offload::none : Offload::cpu;
    others.emplace_back(spec).fsdp2 = options;
  }
  return others;
}

/// Whether layers let go of what they gathered behind the forward pass.
std::vector<Spec> reshard(const Spec& spec, const Bounds&) {
  std::vector<Spec> others;
  if (spec.parallel == Parallel::fsdp1) {
    Fsdp1Spec options = spec.fsdp1.value_or(Fsdp1Spec{});
    using enum ShardingStrategy;
    if (options.sharding_strategy != full_shard && options.sharding_strategy != shard_grad_op) return {};
    options.sharding_strategy = options.sharding_strategy == full_shard ? shard_grad_op : full_shard;
    others.emplace_back(spec).fsdp1 = options;
  } else if (spec.parallel == Parallel::fsdp2) {
    Fsdp2Spec options = spec.fsdp2.value_or(Fsdp2Spec{});
    const bool keeps = options.reshard_after_forward == "false" || (spec.pp && options.reshard_after_forward == "auto");
    options.reshard_after_forward = keeps ? "true" : "false";
    others.emplace_back(spec).fsdp2 = options;
  }
  return others;
}

/// Where the whole model does not fit one GPU, FSDP moves each module that it wraps.
std::vector<Spec> load(const Spec& spec, const Bounds&) {
  const bool is_fsdp = spec.parallel == Parallel::fsdp1 || spec.parallel == Parallel::fsdp2;
  if (!is_fsdp || spec.tp || spec.pp || spec.load == Load::wrapped) return {};
  Spec other = spec;
  other.load = Load::wrapped;
  return {other};
}

std::vector<Spec> bucket_view(const Spec& spec, const Bounds&) {
  if (spec.parallel != Parallel::ddp) return {};
  DdpSpec options = spec.ddp.value_or(DdpSpec{});
  options.gradient_as_bucket_view = !options.gradient_as_bucket_view;
  Spec other = spec;
  other.ddp = options;
  return {other};
}

}  // namespace

Spec with_parallel(Spec spec, Parallel parallel) {
  using enum Parallel;
  if (parallel != spec.parallel) {
    const bool is_zero = parallel == zero1 || parallel == zero2 || parallel == zero3;
    if (parallel != ddp) spec.ddp.reset();
    if (!is_zero && spec.zero && spec.zero->gradient_clipping > 0) spec.max_grad_norm = spec.zero->gradient_clipping;
    if (!is_zero) spec.zero.reset();
    if (parallel != fsdp1) spec.fsdp1.reset();
    // Its policy is mixed precision, which is autocast elsewhere.
    if ((spec.loop != LoopKind::plain || spec.dtype == WeightDtype::fp32) && spec.fsdp2 &&
        spec.fsdp2->param_dtype == PolicyDtype::bf16)
      spec.autocast = Autocast::bf16;
    if (parallel != fsdp2) spec.fsdp2.reset();
    if (parallel != gemini) spec.gemini.reset();
    if (parallel != ep) spec.ep.reset();
    if (parallel != fsdp1 && parallel != fsdp2 && parallel != gemini) spec.load = Load::to;
  }
  spec.parallel = parallel;
  return spec;
}

void add_layout_decisions(std::vector<Decision>& all) {
  all.push_back({.name = "tensor_parallel",
                 .help = "GPUs of one node that split each matrix, with or without the tokens between them",
                 .others = tensor_parallel});
  all.push_back({.name = "pipeline", .help = "GPUs that share the layers, and the schedule", .others = pipeline});
  all.push_back(
      {.name = "context_parallel", .help = "GPUs that share the tokens of each sample", .others = context_parallel});
  all.push_back({.name = "data_parallel",
                 .help = "What the other GPUs do: DDP, ZeRO, FSDP, expert parallelism",
                 .others = data_parallel,
                 .must_change = cannot_share});
  all.push_back({.name = "offload", .help = "Optimizer states, and parameters, on the host", .others = offload});
  all.push_back({.name = "reshard",
                 .help = "Whether FSDP's layers let go of what they gathered behind the forward pass",
                 .others = reshard});
  all.push_back({.name = "load", .help = "Whether FSDP moves weights to the GPU module by module", .others = load});
  all.push_back({.name = "bucket_view", .help = "Whether gradients lie in DDP's buckets", .others = bucket_view});
}

}  // namespace tidemark::plan
