#include "estimate/strategies.h"

#include <utility>

#include "base/error.h"
#include "parallel/ddp.h"

namespace tidemark {
namespace {

StepHooks without_strategy(Run&, Module&, const Spec&, const Prepared&) {
  StepHooks hooks;
  hooks.begins_settled = true;
  return hooks;
}

}  // namespace

Strategy strategy_of(Parallel parallel) {
  // One line per name of kParallelNames.
  constexpr Strategy kStrategies[] = {
      without_strategy,
      with_ddp,    // ddp
      with_zero,   // zero1
      with_zero,   // zero2
      with_zero3,  // zero3
      with_fsdp1,  // fsdp1
      with_fsdp2,  // fsdp2
      with_ep,     // ep
      with_gemini,
  };
  static_assert(std::size(kStrategies) == kParallelNames.size());
  return kStrategies[static_cast<int>(parallel)];
}

void refuse(const char* field, const char* message, const char* hint) {
  throw Error(Errc::unsupported, message, field, hint);
}

void check_dtensor_optimizer(const Spec& spec) {
  if (is_of_torch(spec.optimizer)) return;
  refuse("optimizer", "it does not take DTensors, which parameters are here",
         "set optimizer to adamw, or parallel to fsdp1 or ddp");
}

MeshPlace place_of(const Spec& spec) {
  MeshPlace place;
  place.stages = spec.pp ? spec.pp->degree : 1;
  place.parts = spec.tp ? spec.tp->degree : 1;
  if (spec.fsdp2) place.copies = spec.fsdp2->data_parallel_replicate_degree.value_or(1);
  place.shards = spec.gpus / (place.stages * place.copies * place.parts);
  std::int64_t rest = spec.rank;
  const auto coordinate = [&rest](std::int64_t size) { return std::exchange(rest, rest / size) % size; };
  place.part = coordinate(place.parts);
  place.shard = coordinate(place.shards);
  place.copy = coordinate(place.copies);
  place.stage = coordinate(place.stages);
  return place;
}

namespace {

/// As the optimizer will see them.  fully_shard lays gradients like their parameters.
std::vector<GradientPlacement> placements_of(Module& root, const TensorParallel* split, Parallel parallel) {
  using enum GradientPlacement;
  std::vector<GradientPlacement> placements;
  if (!split) return placements;
  for (const Tensor& parameter : trainable_parameters(root)) {
    if (!parameter.impl().distributed) continue;
    const GradientPlacement placement = split->placement_of(parameter);
    const bool is_part = placement == part || placement == whole;
    placements.push_back(parallel != Parallel::fsdp2 ? placement : is_part ? part : replicated);
  }
  return placements;
}

}  // namespace

Wrapped wrap(Run& run, Module& root, const Spec& spec, const Value& model_config, const Assume& assume,
             std::shared_ptr<ParameterStore> parts) {
  const std::shared_ptr<TensorParallel> split = split_modules(run, root, spec, model_config, assume);
  std::vector<GradientPlacement> placements = placements_of(root, split.get(), spec.parallel);
  StepHooks hooks = strategy_of(spec.parallel)(run, root, spec, {split.get(), std::move(parts)});
  if (split && spec.parallel == Parallel::ddp)
    hooks.before_forward = [outer = std::move(hooks.before_forward), split = split.get()] {
      if (outer) outer();
      split->reconstruct();
    };
  if (split) {
    hooks.begins_settled = false;
    hooks.after_forward = [outer = std::move(hooks.after_forward), split](ModelOutputs& outputs) {
      if (outer) outer(outputs);
      split->check_called();
    };
  }
  return {&root, std::move(hooks), std::move(placements)};
}

StepHooks parallelize(Run& run, Module& root, const Spec& spec, const Value& model_config, const Assume& assume,
                      std::shared_ptr<ParameterStore> parts) {
  std::vector<Wrapped> wrapped{wrap(run, root, spec, model_config, assume, std::move(parts))};
  StepHooks hooks = wrapped.front().hooks;
  if (spec.tp && spec.parallel != Parallel::ddp) group_parameters(wrapped, spec, hooks);
  return hooks;
}

StepHooks with_ddp(Run& run, Module& root, const Spec& spec, const Prepared& /*before*/) {
  const DdpSpec asked = spec.ddp.value_or(DdpSpec{});
  if (asked.no_sync && asked.static_graph) refuse("ddp.no_sync", "it is not known with static_graph");
  return ddp(run, root,
             {.ranks = place_of(spec).shards,
              .bucket_cap_mb = asked.bucket_cap_mb,
              .gradient_as_bucket_view = asked.gradient_as_bucket_view,
              .broadcast_buffers = asked.broadcast_buffers,
              .find_unused_parameters = asked.find_unused_parameters,
              .static_graph = asked.static_graph,
              .no_sync = asked.no_sync});
}

}  // namespace tidemark
