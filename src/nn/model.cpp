#include "nn/model.h"

namespace tidemark {

void keep_part(Model& model, const Part& part) {
  Stack& stack = *model.stack;
  std::vector<std::unique_ptr<Module>>& layers = stack.layers->children();
  const auto from = layers.begin() + static_cast<std::ptrdiff_t>(part.first_layer);
  layers.erase(from + static_cast<std::ptrdiff_t>(part.layers), layers.end());
  layers.erase(layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(part.first_layer));
  if (!part.is_first)
    for (Module* module : stack.before) module->become_identity();
  if (!part.is_last)
    for (Module* module : stack.behind) module->become_identity();
  if (model.was_cut) model.was_cut();
}

}  // namespace tidemark
