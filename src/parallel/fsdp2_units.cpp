#include "parallel/fsdp2_units.h"

#include <algorithm>
#include <cctype>

#include "nn/embeddings.h"
#include "parallel/wrapping.h"
#include "train/decay.h"

namespace tidemark {
namespace {

/// Own ones first; nullptr where there is none.
template <class Is>
Module* first_module(Module& module, Is&& is) {
  if (is(module)) return &module;
  for (const std::unique_ptr<Module>& child : module.children())
    if (Module* const found = first_module(*child, is)) return found;
  return nullptr;
}

/// That of text, also where a tower stands in front of it.
Module* input_embedding(Module& root) {
  return first_module(
      root, [](const Module& module) { return is_input_embedding(module) && !module.name().starts_with("patch"); });
}

Module* output_embedding(Module& root) {
  return first_module(root, [](const Module& module) { return is_output_embedding(module); });
}

/// type(module).__name__ has "Norm" in it.
bool is_norm(const Module& module) {
  std::string name(module.name());
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return module.is_layer_norm || name.find("norm") != std::string::npos;
}

/// accelerate: utils/fsdp_utils.py (1.15.0), _find_final_norm: the last among the children of what base_model_prefix
/// names.  Of a PeftModel that is the model with its head.
Module* final_norm(Module& root) {
  Module* base = root.wrappers.empty() ? nullptr : &root;
  for (const std::unique_ptr<Module>& child : root.children())
    if (!base && !child->children().empty()) base = child.get();
  Module* found = nullptr;
  if (!base) return found;
  for (const std::unique_ptr<Module>& child : base->children())
    if (is_norm(*child)) found = child.get();
  return found;
}

Parameter* weight_of(Module* module) {
  return module && module->has_parameter("weight") ? &module->get("weight") : nullptr;
}

/// fsdp2_prepare_model: the layers, the embedding, then what stands behind the last layer, whole from the forward pass
/// until the backward pass.
void add_accelerates_own(Module& root, std::int64_t reshard, std::vector<FsdpUnit>& units) {
  Module *const input = input_embedding(root), *const output = output_embedding(root), *const norm = final_norm(root);
  const bool is_tied = weight_of(input) && weight_of(input) == weight_of(output);
  if (!is_tied && input) units.push_back({{input}, reshard});
  FsdpUnit tail;
  for (Module* module : {norm, is_tied ? input : nullptr, output})
    if (module) tail.modules.push_back(module);
  if (!tail.modules.empty()) units.push_back(std::move(tail));
}

}  // namespace

std::vector<FsdpUnit> fsdp2_units(Module& root, const Fsdp2Options& options) {
  const std::int64_t reshard = options.reshard_after_forward.value_or(options.ranks);
  std::vector<FsdpUnit> units;
  for (Module* layer : layers_of(root, options.layer_classes)) units.push_back({{layer}, reshard});
  if (options.as_accelerate) add_accelerates_own(root, reshard, units);
  // Where nothing is said, what forwards first turns out to be the root: FSDPState._lazy_init
  units.push_back({{&root}, options.as_accelerate ? 0 : options.reshard_after_forward.value_or(0)});
  return units;
}

TensorList named_while_prepared(Module& root) {
  Tensor last, last_decaying, last_other;
  visit_parameters(root, [&](const Module& module, const Parameter& parameter) {
    last = parameter.tensor;
    if (parameter.tensor.requires_grad()) (decays(module, parameter) ? last_decaying : last_other) = parameter.tensor;
  });
  TensorList named{last};
  for (Module* module : {input_embedding(root), output_embedding(root)})
    named.push_back(weight_of(module) ? weight_of(module)->tensor : Tensor());
  named.push_back(last_other ? last_other : last_decaying);
  return named;
}

}  // namespace tidemark
