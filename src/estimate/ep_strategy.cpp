#include "estimate/strategies.h"
#include "parallel/expert_parallel.h"

namespace tidemark {
namespace {

/// All GPUs share the experts: transformers' ranks of expert parallelism are those of its tensor parallelism.
std::int64_t degree_of(const Spec& spec) {
  const std::int64_t degree = spec.ep ? spec.ep->degree.value_or(spec.gpus) : spec.gpus;
  if (degree != spec.gpus)
    refuse("ep.degree", "expert parallelism beside another kind of parallelism is not modelled",
           "leave it out, or write as many as there are GPUs");
  return degree;
}

/// What cannot run, or of which nothing is known.
void check_ep(const Spec& spec) {
  if (spec.tp) refuse("tp", "tensor parallelism beside expert parallelism is not modelled");
  if (spec.experts_implementation == ExpertsImplementation::eager)
    refuse("experts_implementation", "transformers' loop over experts fails at experts of other ranks",
           "set experts_implementation to grouped_mm");
  using enum OptimizerName;
  if (spec.optimizer != adamw && spec.optimizer != adam && spec.optimizer != sgd)
    refuse("optimizer", "what it does to parameters that are split over ranks is not known");
  if (spec.max_grad_norm)
    refuse("max_grad_norm", "torch takes no norm of gradients of which some are split over ranks and some are not");
  if (spec.grad_scaler)
    refuse("grad_scaler", "torch unscales no gradients of which some are split over ranks and some are not");
}

}  // namespace

std::shared_ptr<const ModuleHooks> before_load(Module& root, const Spec& spec) {
  if (spec.parallel != Parallel::ep) return {};
  const std::int64_t degree = degree_of(spec);
  if (degree == 1) return {};  // PreTrainedModel.maybe_distribute_model leaves it alone
  check_ep(spec);
  return shard_experts(root, degree);
}

StepHooks with_ep(Run& run, Module& root, const Spec& spec, const Prepared& /*before*/) {
  const std::int64_t degree = degree_of(spec);
  return degree == 1 ? StepHooks{} : expert_parallel(run, root, degree);
}

}  // namespace tidemark
