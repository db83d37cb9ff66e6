#include "parallel/wrapping.h"

#include <algorithm>

namespace tidemark {
namespace {

/// It has numbers for names and, unlike an nn.Sequential, no forward.
bool is_module_list(Module& module) {
  const auto is_number = [](const std::unique_ptr<Module>& child) { return child->has_place(); };
  return !module.forward && !module.children().empty() && std::ranges::all_of(module.children(), is_number);
}

void collect_layers(Module& module, std::vector<Module*>& layers) {
  for (const std::unique_ptr<Module>& child : module.children()) {
    if (is_module_list(module)) layers.push_back(child.get());
    collect_layers(*child, layers);
  }
}

}  // namespace

std::vector<Module*> layers_of(Module& root) {
  std::vector<Module*> layers;
  collect_layers(root, layers);
  return layers;
}

void move_to_device(Run& run, const std::vector<ManagedParameter>& states) {
  const Setting<Category> category(run.category, Category::parameters);
  const Op op(run, "aten::to");
  for (const auto& [module, parameter] : states) {
    const InModule scope(run, *module);
    Storage& storage = *parameter->tensor.impl().storage;
    if (storage.id == kNoBytes) run.resize(storage, parameter->tensor.bytes());
  }
}

void set_dtype(Module& module, Dtype dtype) {
  module.dtype = dtype;
  for (const std::unique_ptr<Module>& child : module.children()) set_dtype(*child, dtype);
}

}  // namespace tidemark
