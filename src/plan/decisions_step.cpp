// How a step of one GPU goes.
#include <algorithm>

#include "plan/decision_blocks.h"
#include "plan/space.h"

namespace tidemark::plan {
namespace {

/// A pipeline takes all of its samples at once, in parts; a model that is whole takes a part per pass, and accumulates.
Spec with_micro_batch(Spec spec, std::int64_t samples, std::int64_t passes) {
  if (spec.pp) {
    spec.batch = samples * passes;
    spec.pp->microbatches = passes;
    spec.grad_accumulation = 1;
  } else {
    spec.batch = samples;
    spec.grad_accumulation = passes;
  }
  return spec;
}

std::int64_t samples_per_step(const Spec& spec) {
  return spec.batch * spec.grad_accumulation * data_parallel_ranks(spec);
}

/// Smallest first.  1F1B takes a micro-batch for each stage, or more (torch.distributed.pipelining.Schedule1F1B).
std::vector<Spec> micro_batch(const Spec& spec, const Bounds& bounds) {
  std::vector<Spec> others;
  const std::int64_t ranks = data_parallel_ranks(spec);
  if (bounds.samples_per_step == 0 || bounds.samples_per_step % ranks != 0) return others;
  const std::int64_t each = bounds.samples_per_step / ranks;
  for (const std::int64_t samples : divisors(each)) {
    const std::int64_t passes = each / samples;
    if (spec.pp && spec.pp->schedule == PipelineSchedule::one_f_one_b && passes < spec.pp->degree) continue;
    if (samples_per_step(spec) == bounds.samples_per_step && samples == samples_per_pass(spec)) continue;
    others.push_back(with_micro_batch(spec, samples, passes));
  }
  return others;
}

/// Another number of samples per step would be another training.
bool has_other_samples(const Spec& spec, const Bounds& bounds) {
  if (bounds.samples_per_step == 0) return false;
  return samples_per_step(spec) != bounds.samples_per_step ||
         (spec.pp && spec.pp->schedule == PipelineSchedule::one_f_one_b && spec.pp->microbatches < spec.pp->degree);
}

/// None, and each n-th layer; every layer is n = 1.
std::vector<Spec> checkpointing(const Spec& spec, const Bounds&) {
  std::vector<Spec> others;
  const auto add = [&](Checkpointing how, std::int64_t every) {
    if (spec.checkpointing == how && spec.checkpoint_every == every && spec.checkpoint_layers.empty() &&
        spec.checkpoint_save.empty())
      return;
    Spec& other = others.emplace_back(spec);
    other.checkpoint_layers.clear();
    other.checkpoint_save.clear();
    other.checkpoint_save_layers.clear();
    other.checkpointing = how;
    other.checkpoint_every = every;
  };
  add(Checkpointing::none, 1);
  const Checkpointing how =
      spec.checkpointing == Checkpointing::none ? Checkpointing::non_reentrant : spec.checkpointing;
  for (const std::int64_t every : {1, 2, 3, 4}) add(how, every);
  return others;
}

/// Context parallelism takes the place of torch's sdpa alone (docs/design/context-parallel.md).
std::vector<Spec> attention(const Spec& spec, const Bounds&) {
  if (spec.generate > 0 || (spec.cp && spec.attn != Attention::eager)) return {};
  Spec other = spec;
  other.attn = spec.attn == Attention::eager ? Attention::sdpa : Attention::eager;
  return {other};
}

std::vector<Spec> optimizer_impl(const Spec& spec, const Bounds&) {
  using enum OptimizerName;
  using enum OptimizerImpl;
  std::vector<Spec> others;
  const bool has_one = spec.optimizer == adafactor || !is_of_torch(spec.optimizer);
  if (has_one || spec.parallel == Parallel::gemini || spec.generate > 0) return others;
  // DeepSpeed's FusedAdam takes the place of torch's (deepspeed/runtime/engine.py, _configure_basic_optimizer).
  if (is_zero(spec.parallel)) return others;
  const bool has_fused = spec.optimizer != rmsprop;
  const OptimizerImpl current = spec.optimizer_impl == automatic ? foreach : spec.optimizer_impl;
  for (const OptimizerImpl impl : {foreach, fused, loop})
    if (impl != current && (impl != fused || has_fused)) others.emplace_back(spec).optimizer_impl = impl;
  return others;
}

/// torch: PYTORCH_CUDA_ALLOC_CONF
std::vector<Spec> allocator(const Spec& spec, const Bounds&) {
  if (spec.allocator.find("expandable_segments") != std::string::npos) return {};
  Spec other = spec;
  if (!other.allocator.empty()) other.allocator += ',';
  other.allocator += "expandable_segments:True";
  return {other};
}

}  // namespace

void add_step_decisions(std::vector<Decision>& all) {
  all.push_back({.name = "checkpointing",
                 .help = "Which layers run again in the backward pass: none, all, each n-th",
                 .changes_from = Moment::passes,
                 .others = checkpointing});
  all.push_back({.name = "attention", .help = "sdpa or eager", .others = attention});
  all.push_back({.name = "optimizer_impl",
                 .help = "foreach, fused or a loop",
                 .changes_from = Moment::optimizer,
                 .others = optimizer_impl});
  all.push_back({.name = "allocator",
                 .help = "Whether segments can grow (expandable_segments)",
                 .changes_from = Moment::answers,
                 .others = allocator});
  all.push_back({.name = "micro_batch",
                 .help = "Samples per pass, and passes per step: together as many samples as now",
                 .changes_from = Moment::passes,
                 .others = micro_batch,
                 .must_change = has_other_samples});
}

}  // namespace tidemark::plan
