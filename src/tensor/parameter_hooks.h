// What a strategy does where operations take parameters, and where their gradients are complete.
#pragma once
#include <functional>

#include "tensor/tensor.h"

namespace tidemark {

struct ParameterHooks {
  /// Around each operation that takes parameters; others may be put in the place of its inputs, of which some are
  /// empty, and of its output.  torch: __torch_function__ of a class of parameters
  std::function<void(Tensors& inputs)> before;
  std::function<void(Tensor& output)> after;
  /// In place of accumulating it; the gradient goes when this returns.  False of a leaf that is none of theirs.
  /// torch: Tensor.register_hook on a parameter
  std::function<bool(const Tensor& leaf, const Tensor& gradient)> takes_gradient;
};

}  // namespace tidemark
