#include "parallel/wrapping.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace tidemark {
namespace {

/// An nn.ModuleList; of a module whose class is not said: it has numbers for names, and no forward of its own.
bool is_module_list(Module& module) {
  if (module.class_name != "-") return module.class_name == "nn.ModuleList" && !module.children().empty();
  const auto is_number = [](const std::unique_ptr<Module>& child) { return child->has_place(); };
  return !module.forward && !module.children().empty() && std::ranges::all_of(module.children(), is_number);
}

void collect_layers(Module& module, std::vector<Module*>& layers) {
  for (const std::unique_ptr<Module>& child : module.children()) {
    if (is_module_list(module)) layers.push_back(child.get());
    collect_layers(*child, layers);
  }
}

void collect_of(Module& module, const std::vector<std::string>& classes, std::vector<Module*>& found) {
  for (const std::unique_ptr<Module>& child : module.children()) {
    collect_of(*child, classes, found);
    if (std::ranges::find(classes, child->class_name) != classes.end()) found.push_back(child.get());
  }
}

/// accelerate: utils/fsdp_utils.py (1.15.0), fsdp2_prepare_auto_wrap_policy
void check_found(const std::vector<std::string>& classes, const std::vector<Module*>& found) {
  std::set<std::string> left(classes.begin(), classes.end());
  for (const Module* module : found) left.erase(module->class_name);
  if (!left.empty())
    throw Error(Errc::bad_value, "the model has no module of the class " + *left.begin(),
                "transformer_layer_cls_to_wrap");
}

/// Of a model from a program each module has its class.
bool has_classes(Module& root) {
  return std::ranges::any_of(root.children(), [](const auto& child) { return child->class_name != "-"; });
}

}  // namespace

std::vector<Module*> layers_of(Module& root, const std::vector<std::string>& classes) {
  std::vector<Module*> layers;
  if (classes.empty() || !has_classes(root)) {
    collect_layers(root, layers);
    return layers;
  }
  collect_of(root, classes, layers);
  check_found(classes, layers);
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
