#include "parallel/zero.h"

#include "parallel/zero_engine.h"
#include "parallel/zero_optimizer.h"

namespace tidemark {

StepHooks zero(Run& run, Module& root, const std::vector<TensorList>& groups, const ZeroOptions& options) {
  cast_to_bf16(run, root);
  const std::shared_ptr<ZeroOptimizer> optimizer = options.offload_optimizer
                                                       ? zero_on_host(run, groups, options)
                                                       : std::make_unique<ZeroOptimizer>(run, groups, options);
  run.prefix_modules(root.number(), "module");
  StepHooks hooks;
  hooks.optimizer_parameters = optimizer->make_states();
  hooks.gradient_is_ready = [optimizer](const Tensor& leaf) { optimizer->gradient_is_ready(leaf); };
  hooks.backward = [optimizer](const Tensor& loss, bool is_last) { optimizer->backward(loss, is_last); };
  hooks.step = [optimizer](Optimizer& inner) { optimizer->step(inner); };
  hooks.begins_settled = true;
  hooks.is_engine = true;
  hooks.loop_keeps_loss = true;
  return hooks;
}

}  // namespace tidemark
