#include "train/decay.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

namespace tidemark {
namespace {

/// Whether `part` is there between dots, the name's ends counting as such; `open`: something may stand in front of it.
bool has_part(const std::string& name, std::string_view part, bool open) {
  for (std::size_t at = name.find(part); at != std::string::npos; at = name.find(part, at + 1)) {
    const bool begins = open || at == 0 || name[at - 1] == '.';
    const std::size_t end = at + part.size();
    if (begins && (end == name.size() || name[end] == '.')) return true;
  }
  return false;
}

}  // namespace

bool decays(const Module& module, const Parameter& parameter) {
  if (module.is_layer_norm) return false;
  std::string name = full_name(module, parameter);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* text : {"bias", "layernorm", "rmsnorm"})
    if (name.find(text) != std::string::npos) return false;
  return !has_part(name, "norm", false) && !has_part(name, "_norm", true);
}

std::vector<TensorList> decay_groups(Module& root) {
  std::unordered_set<const TensorImpl*> decaying;
  visit_parameters(root, [&](const Module& module, const Parameter& parameter) {
    if (decays(module, parameter)) decaying.insert(&parameter.tensor.impl());
  });
  std::vector<TensorList> groups(2);
  for (const Tensor& parameter : trainable_parameters(root))
    groups[decaying.contains(&parameter.impl()) ? 0 : 1].push_back(parameter);
  std::erase_if(groups, [](const TensorList& group) { return group.empty(); });
  return groups;
}

void group_by_decay(Module& root, StepHooks& hooks) {
  hooks.optimizer_parameters.clear();
  for (const TensorList& group : decay_groups(root)) {
    hooks.group_sizes.push_back(group.size());
    hooks.optimizer_parameters.insert(hooks.optimizer_parameters.end(), group.begin(), group.end());
  }
}

}  // namespace tidemark
