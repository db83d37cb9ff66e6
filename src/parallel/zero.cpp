#include "parallel/zero.h"

#include "base/error.h"
#include "parallel/zero_optimizer.h"

namespace tidemark {
namespace {

/// _cast_module_mixed_precision: `p.data = p.data.to(torch.bfloat16)`; buffers stay as they are.
void cast_parameters(Module& module) {
  for (const std::shared_ptr<Parameter>& parameter : module.parameters()) {
    TensorImpl& tensor = parameter->tensor.impl();
    if (parameter->is_buffer || tensor.dtype == Dtype::bf16) continue;
    const std::uint32_t owner = tensor.run->module_of(*tensor.storage);
    tensor.storage = plain_cast(parameter->tensor, Dtype::bf16).impl().storage;
    tensor.run->set_module(*tensor.storage, owner);
    tensor.dtype = parameter->dtype = module.dtype = Dtype::bf16;
  }
  for (const std::unique_ptr<Module>& child : module.children()) cast_parameters(*child);
}

TensorList trainable(Module& root) {
  TensorList parameters = trainable_parameters(root);
  if (parameters.empty()) throw Error(Errc::bad_value, "nothing is left to train", "freeze");
  return parameters;
}

}  // namespace

StepHooks zero(Run& run, Module& root, const ZeroOptions& options) {
  {
    const Setting<Category> category(run.category, Category::parameters);
    const Op op(run, "aten::to");
    cast_parameters(root);
  }
  const std::shared_ptr<ZeroOptimizer> optimizer = options.offload_optimizer
                                                       ? zero_on_host(run, trainable(root), options)
                                                       : std::make_unique<ZeroOptimizer>(run, trainable(root), options);
  run.prefix_modules(root.number(), "module");
  StepHooks hooks;
  hooks.optimizer_parameters = optimizer->make_states();
  hooks.gradient_is_ready = [optimizer](const Tensor& leaf) { optimizer->gradient_is_ready(leaf); };
  hooks.backward = [optimizer](const Tensor& loss, bool is_last) { optimizer->backward(loss, is_last); };
  hooks.step = [optimizer](Optimizer& inner) { optimizer->step(inner); };
  hooks.loop_keeps_loss = true;
  return hooks;
}

}  // namespace tidemark
