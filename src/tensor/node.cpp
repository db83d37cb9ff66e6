#include "tensor/node.h"

#include <limits>

#include "tensor/mismatch.h"
#include "tensor/run.h"
#include "tensor/second_forward.h"

namespace tidemark {
namespace {

/// torch: impl::grad_accumulator
Ref<Node> accumulator_of(const Tensor& variable) {
  TensorImpl& impl = variable.impl();
  if (impl.accumulator) return Ref<Node>(impl.accumulator);
  Node* node = impl.run->nodes.make();
  node->name = "AccumulateGrad";
  node->run = impl.run;
  node->stream = impl.run->stream;
  node->sequence = std::numeric_limits<std::uint64_t>::max();
  node->outputs.push_back({variable.whole_sizes(), impl.dtype, impl.distributed});
  node->variable = variable;
  impl.accumulator = node;
  return Ref<Node>(node);
}

/// torch: collect_next_edges, gradient_edge
Edge edge_of(const Tensor& input) {
  if (!input.requires_grad()) return {};
  if (input.impl().grad_fn) return {input.impl().grad_fn, input.impl().output};
  return {accumulator_of(input), 0};
}

Ref<Node> make_node(Run& run, const Tensors& inputs, Record& what) {
  Ref<Node> node(run.nodes.make());
  node->run = &run;
  node->name = what.name;
  node->backward = what.backward;
  node->sequence = run.next_sequence++;
  node->module = run.module;
  node->stream = run.stream;
  node->facts = what.facts;
  for (const Tensor& input : inputs) node->edges.push_back(edge_of(input));
  return node;
}

void save(Run& run, Node& node, Tensors& saved) {
  for (Tensor& tensor : saved)
    node.saved.push_back(run.checkpoint && tensor ? save_in(*run.checkpoint, std::move(tensor))
                                                  : Saved(std::move(tensor)));
}

bool records_gradients(const Tensors& inputs) {
  for (const Tensor& input : inputs)
    if (input) return input.run().grad_enabled;
  return false;
}

/// Numbers alone go with both kinds.  torch: torch/distributed/tensor/_dispatch.py,
/// try_replicate_spec_for_scalar_tensor
bool is_distributed(const Tensors& inputs, const Record& what) {
  if (what.distributed) return *what.distributed;
  bool distributed = false, plain = false;
  for (const Tensor& input : inputs) {
    if (!input) continue;
    if (input.impl().distributed)
      distributed = true;
    else if (input.dims() > 0)
      plain = true;
  }
  if (distributed && plain)  // gradients are not marked, and backward passes run without gradients of their own
    check_match(!records_gradients(inputs),
                "an operation takes tensors that lie on several devices, or others, not both");
  return distributed;
}

/// The node of an operation, when any input needs a gradient and gradients are on.
Ref<Node> node_of(Run& run, const Tensors& inputs, Record& what) {
  if (!run.grad_enabled) return {};
  bool needed = false;
  for (const Tensor& input : inputs) needed = needed || input.requires_grad();
  if (!needed) return {};
  Ref<Node> node = make_node(run, inputs, what);
  if (run.checkpoint) write_down(*node, *run.checkpoint, what.saved);
  save(run, *node, what.saved);
  node->attribute = std::move(what.attribute);
  return node;
}

void tie(Node& node, Tensor& output, std::size_t index) {
  TensorImpl& impl = output.impl();
  node.outputs.push_back({output.whole_sizes(), output.dtype(), impl.distributed});
  impl.requires_grad = true;
  impl.grad_fn = Ref<Node>(&node);
  impl.output = static_cast<std::int32_t>(index);
}

}  // namespace

void Node::destroy(Node* node) {
  Run& run = *node->run;
  if (node->variable) node->variable.impl().accumulator = nullptr;
  run.dead_nodes.push_back(node);
  if (run.destroying_nodes) return;
  run.destroying_nodes = true;
  while (!run.dead_nodes.empty()) {
    Node* next = run.dead_nodes.back();
    run.dead_nodes.pop_back();
    run.nodes.destroy(next);
  }
  run.destroying_nodes = false;
}

bool needs_grad(const Tensor& tensor) { return tensor && tensor.requires_grad() && tensor.run().grad_enabled; }

Tensor record(Tensor output, Tensors inputs, Record what) {
  if (!inputs.empty() && inputs[0] && inputs[0].is(output)) ++output.impl().storage->version;
  output.impl().distributed = is_distributed(inputs, what);
  if (const Ref<Node> node = node_of(output.run(), inputs, what)) tie(*node, output, 0);
  return output;
}

void record(Tensors& outputs, Tensors inputs, Record what) {
  const bool distributed = is_distributed(inputs, what);
  for (Tensor& output : outputs) output.impl().distributed = distributed;
  if (const Ref<Node> node = node_of(outputs[0].run(), inputs, what))
    for (std::size_t i = 0; i < outputs.size(); ++i) tie(*node, outputs[i], i);
}

Tensors gradients_as_they_come(Backward& call) { return std::move(call.gradients); }

Tensors hand_on(Tensors inputs, const std::function<void()>& told) {
  Tensors outputs;
  ++inputs[0].run().side_effects;
  for (const Tensor& input : inputs) {
    outputs.push_back(alias(input));
    outputs.back().impl().split = input.impl().split;
    outputs.back().impl().parts = input.impl().parts;
  }
  record(outputs, std::move(inputs), {.name = "torch::autograd::Function", .backward = gradients_as_they_come});
  if (outputs[0].impl().grad_fn) outputs[0].impl().grad_fn->told.push_back(&told);
  return outputs;
}

bool is_handed_on(const Tensor& tensor) {
  return tensor.impl().grad_fn && tensor.impl().grad_fn->backward == gradients_as_they_come;
}

Ref<Node> tell_of_gradient(const Tensor& output, const std::function<void()>& told) {
  ++output.run().side_effects;
  const bool is_leaf = !output.impl().grad_fn;
  Ref<Node> accumulator = is_leaf ? accumulator_of(output) : Ref<Node>();
  (is_leaf ? accumulator : output.impl().grad_fn)->told.push_back(&told);
  return accumulator;
}

}  // namespace tidemark
