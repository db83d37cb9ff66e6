// The backward pass in PyTorch's order.  torch: torch/csrc/autograd/engine.cpp, accumulate_grad.cpp
#pragma once
#include <vector>

#include "tensor/node.h"

namespace tidemark {

/// loss.backward(): allocates the gradient of the root and lets gradients flow to every leaf that needs one.
void backward(const Tensor& root);
/// torch.autograd.backward with given gradients of the roots (the checkpoint's inner pass).
void backward(const Tensors& roots, Tensors gradients);
/// The same, from places in the graph whose tensors may be gone.  torch: GradientEdge
void backward(const std::vector<Edge>& roots, Tensors gradients);
/// torch.autograd.grad of a leaf: what comes to it, which is not added to its gradient.  Nothing runs that does not
/// lead there, and what does computes nothing else.
Tensor gradient_at(const Tensor& leaf, const Tensor& root, Tensor gradient);

}  // namespace tidemark
