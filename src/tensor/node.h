// The tape: what one operation leaves behind for the backward pass.  torch: torch/csrc/autograd/{node,function}.h
#pragma once
#include <functional>
#include <optional>

#include "tensor/checkpoint.h"
#include "tensor/tensor.h"

namespace tidemark {

struct Node;
struct Backward;

/// The gradients of the inputs, in their order; an empty one where none is needed.  A plain pointer: nothing can be
/// kept for backward but through Node::saved, and what Node::attribute keeps until the node goes.
using BackwardFunction = Tensors (*)(Backward& call);

/// Numbers that a formula needs; they hold no memory.
struct Facts {
  Dims sizes = {};
  std::int64_t a = 0, b = 0, c = 0;
  Dtype dtype = Dtype::f32;
};

struct Edge {
  Ref<Node> node;
  std::int32_t output = 0;
};

/// A kept tensor, or its place among those that a checkpointed block makes again.
struct Saved {
  Saved() = default;
  explicit Saved(Tensor kept) : tensor(std::move(kept)) {}
  Saved(Ref<CheckpointFrame> from, std::int32_t at) : frame(std::move(from)), place(at) {}
  Saved(Saved&&) = default;
  Saved& operator=(Saved&&) = default;
  ~Saved();

  Tensor tensor;
  Ref<CheckpointFrame> frame;
  std::int32_t place = 0;
};

struct Node {
  const char* name = "";
  BackwardFunction backward = nullptr;
  Run* run = nullptr;
  std::uint64_t sequence = 0;
  std::int32_t references = 0;
  std::uint32_t module = 0;  // in which it was recorded
  StreamId stream = 0;       // on which it was recorded, and its formula runs
  InlineVector<Edge, 3> edges;
  InlineVector<Saved, 3> saved;
  struct OutputInfo {
    Dims sizes;
    Dtype dtype;
    bool distributed;
  };
  InlineVector<OutputInfo, 1> outputs;
  Facts facts;
  Tensor variable;                                     // of an AccumulateGrad
  Tensor attribute;                                    // of a Python function's context: ctx.x = x, which nobody saves
  Ref<CheckpointFrame> frame;                          // of a CheckpointFunction
  InlineVector<const std::function<void()>*, 1> told;  // called before its formula, in order; not owned

  // While a backward pass goes on.
  std::uint32_t pass = 0;  // the pass that the next two belong to
  std::int32_t dependencies = 0;
  Tensors gradients;

  static void destroy(Node* node);
};

/// One node's turn in the backward pass.
struct Backward {
  Run& run;
  Node& node;
  Tensors& gradients;  // of the outputs; they live until the node is done
  Tensors saved;       // unpacked; live until the formula returns
  const Facts& facts;

  /// Whether input `index` needs a gradient.
  bool needs(std::size_t index) const { return static_cast<bool>(node.edges[index].node); }
  const Tensor& gradient() const { return gradients[0]; }
};

struct Record {
  const char* name;
  Tensors saved = {};
  Facts facts = {};
  BackwardFunction backward;
  std::optional<bool> distributed = {};  // what the output is; none: as any of the inputs
  Tensor attribute = {};  // lives as long as the node: no checkpoint leaves it out, no backward lets go of it
};

/// Whether an operation on `tensor` would keep something for its gradient.
bool needs_grad(const Tensor& tensor);

/// Ties `output` to `inputs`, when any of them needs a gradient and gradients are on; lets go of all else.
Tensor record(Tensor output, Tensors inputs, Record what);
void record(Tensors& outputs, Tensors inputs, Record what);

/// What goes back through a node that changes nothing.
Tensors gradients_as_they_come(Backward& call);

/// A torch.autograd.Function that hands its inputs on, and calls `told` when the backward pass comes to it.  The caller
/// keeps `told` as long as there is a graph.
Tensors hand_on(Tensors inputs, const std::function<void()>& told);

/// Whether hand_on gave this tensor.
bool is_handed_on(const Tensor& tensor);

/// Tensor.register_hook: calls `told` when the gradient of `output` is complete, before it goes on.  Returns what
/// accumulates the gradient of a leaf, which the caller keeps until then, as the leaf would.
Ref<Node> tell_of_gradient(const Tensor& output, const std::function<void()>& told);

}  // namespace tidemark
