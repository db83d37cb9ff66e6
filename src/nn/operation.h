// Operations that take parameters among their inputs, which some strategies hang hooks on.
#pragma once
#include <type_traits>
#include <utility>

#include "tensor/parameter_hooks.h"
#include "tensor/run.h"

namespace tidemark {

/// operation(inputs...), with the hooks of a strategy around it.
template <class... Inputs>
Tensor with_parameters(Run& run, Tensor (*operation)(Inputs...), std::type_identity_t<Inputs>... inputs) {
  const ParameterHooks* hooks = run.parameter_hooks;
  if (!hooks) return operation(std::move(inputs)...);
  Tensors list;
  (list.push_back(std::move(inputs)), ...);
  hooks->before(list);
  Tensor output = [&]<std::size_t... i>(std::index_sequence<i...>) {
    return operation(std::move(list[i])...);
  }(std::index_sequence_for<Inputs...>{});
  hooks->after(output);
  return output;
}

}  // namespace tidemark
