#include "parallel/zero_engine.h"

#include "tensor/arithmetic.h"

namespace tidemark {
namespace {

/// `p.data = p.data.to(torch.bfloat16)`; buffers stay as they are.
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

}  // namespace

void cast_to_bf16(Run& run, Module& root) {
  const Setting<Category> category(run.category, Category::parameters);
  const Op op(run, "aten::to");
  cast_parameters(root);
}

}  // namespace tidemark
