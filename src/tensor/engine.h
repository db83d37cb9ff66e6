// The backward pass in PyTorch's order.  torch: torch/csrc/autograd/engine.cpp, accumulate_grad.cpp
#pragma once
#include "tensor/node.h"

namespace tidemark {

/// loss.backward(): allocates the gradient of the root and lets gradients flow to every leaf that needs one.
void backward(const Tensor& root);
/// torch.autograd.backward with given gradients of the roots (the checkpoint's inner pass).
void backward(const Tensors& roots, Tensors gradients);

}  // namespace tidemark
