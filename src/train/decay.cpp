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

void group_by_decay(Module& root, StepHooks& hooks) {
  std::unordered_set<const TensorImpl*> decaying;
  visit_parameters(root, [&](const Module& module, const Parameter& parameter) {
    if (decays(module, parameter)) decaying.insert(&parameter.tensor.impl());
  });
  hooks.optimizer_parameters.clear();
  hooks.group_parameters(trainable_parameters(root),
                         [&](const Tensor& parameter) { return decaying.contains(&parameter.impl()); });
}

}  // namespace tidemark
