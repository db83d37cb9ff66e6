#include "tensor/engine.h"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tensor/arithmetic.h"
#include "tensor/parameter_hooks.h"
#include "tensor/run.h"

namespace tidemark {
namespace {

/// torch: utils::obeys_layout_contract: a gradient lies as its parameter does.
bool obeys_layout_contract(const Layout& gradient, const Layout& variable) {
  if (!variable.is_dense()) return gradient.is_contiguous();
  for (int d = 0; d < variable.sizes.count(); ++d)
    if (variable.sizes[d] > 1 && gradient.strides[d] != variable.strides[d]) return false;
  return true;
}

/// torch: AccumulateGrad::accumulateGrad
void accumulate(Node& node, Tensor gradient) {
  Tensor& variable = node.variable;
  Tensor& sum = variable.grad();
  if (sum) return;  // added in place
  const Layout& layout = variable.layout();
  if (gradient.impl().references == 1 && obeys_layout_contract(gradient.layout(), layout)) {
    sum = alias(gradient);
  } else {
    const Op op(*node.run, "AccumulateGrad");
    const Dims& sizes = gradient.sizes();
    sum =
        empty(*node.run, layout.is_dense() && sizes == layout.sizes ? layout : Layout{sizes, contiguous_strides(sizes)},
              gradient.dtype());
  }
  if (node.run->category_of(*variable.impl().storage) == Category::parameters)  // not of an activation
    node.run->set_category(*sum.impl().storage, Category::gradients);
}

void accumulate_grad(Node& node) {
  Tensor gradient = std::move(node.gradients[0]);
  if (!gradient) return;
  const ParameterHooks* hooks = node.run->parameter_hooks;
  if (hooks && hooks->takes_gradient(node.variable, gradient)) return;
  accumulate(node, std::move(gradient));
  if (node.run->on_gradient) node.run->on_gradient(node.variable);
}

/// torch: InputBuffer::add; can_accumulate_inplace, which tensor subclasses are not
void add_to(Tensor& buffer, Tensor gradient, bool distributed) {
  if (!buffer)
    buffer = std::move(gradient);
  else if (gradient && (distributed || !buffer.is_sole_owner() || !buffer.layout().is_dense()))
    buffer = plain_add(std::move(buffer), std::move(gradient));
}

/// While a formula runs, a node has no other edges than these.  torch: task_should_compute_output
class OnlyEdges {
 public:
  template <class Leads>
  OnlyEdges(Node& node, Leads&& leads) : node_(node) {
    for (std::size_t i = 0; i < node.edges.size(); ++i)
      if (node.edges[i].node && !leads(node.edges[i])) others_.emplace_back(i, std::move(node.edges[i].node));
  }
  ~OnlyEdges() {
    for (auto& [place, other] : others_) node_.edges[place].node = std::move(other);
  }
  OnlyEdges(const OnlyEdges&) = delete;
  OnlyEdges& operator=(const OnlyEdges&) = delete;

 private:
  Node& node_;
  std::vector<std::pair<std::size_t, Ref<Node>>> others_;
};

class Pass {
 public:
  /// `nested`: within another pass, whose counts of nodes that both reach are put aside.  `leaf`: for whose gradient
  /// alone the pass is; none: for all.
  Pass(Run& run, bool nested, Tensor leaf = {})
      : run_(run), number_(++run.passes), nested_(nested), leaf_(std::move(leaf)) {}

  /// A root that another one leads to waits for what comes from there.
  void start(const std::vector<Edge>& roots, Tensors& gradients) {
    for (const Edge& root : roots) count_dependencies(root.node);
    if (leaf_) find_way();
    for (std::size_t i = 0; i < roots.size(); ++i) {
      const Ref<Node>& node = roots[i].node;
      const auto output = static_cast<std::size_t>(roots[i].output);
      add_to(node->gradients[output], std::move(gradients[i]), node->outputs[output].distributed);
      if (--node->dependencies == 0) push(node);
    }
  }

  /// Of the leaf that the pass was for.
  Tensor take_gradient() { return std::move(gradient_); }

  void finish() {
    while (!ready_.empty()) {
      std::pop_heap(ready_.begin(), ready_.end(), runs_later);
      const Ref<Node> node = std::move(ready_.back());
      ready_.pop_back();
      evaluate(*node);
    }
    for (const StreamId stream : leaf_streams_) run_.stream_calls.wait_stream(run_.stream, stream);
    for (Suspended& outer : suspended_) {
      outer.node->pass = outer.pass;
      outer.node->dependencies = outer.dependencies;
      outer.node->gradients = std::move(outer.gradients);
    }
  }

 private:
  struct Suspended {
    Ref<Node> node;
    std::uint32_t pass;
    std::int32_t dependencies;
    Tensors gradients;
  };

  /// That a gradient from another stream than the node's is there, which is waited for before either is used.
  struct Ready {
    const Node* node;
    std::int32_t input;
    EventNumber event;
  };

  static bool runs_later(const Ref<Node>& a, const Ref<Node>& b) { return a->sequence < b->sequence; }

  void push(const Ref<Node>& node) {
    ready_.push_back(node);
    std::push_heap(ready_.begin(), ready_.end(), runs_later);
  }

  void meet(Node& node) {
    if (nested_ && node.pass != 0)
      suspended_.push_back({Ref<Node>(&node), node.pass, node.dependencies, std::move(node.gradients)});
    node.pass = number_;
    node.dependencies = 0;
    node.gradients.clear();
    node.gradients.resize(node.outputs.size());
    if (leaf_) met_.push_back(&node);
  }

  /// torch: GraphTask::init_to_execute.  What a node leads to was made before it.
  void find_way() {
    const auto made = [](const Node* node) { return node->variable ? 0 : node->sequence + 1; };
    std::ranges::sort(met_, {}, made);
    for (const Node* node : met_)
      if (node->variable ? node->variable.is(leaf_)
                         : std::ranges::any_of(node->edges, [&](const Edge& edge) { return leads(edge); }))
        on_the_way_.insert(node);
  }

  /// Whether the pass goes on there.
  bool leads(const Edge& edge) const { return edge.node && (!leaf_ || on_the_way_.contains(edge.node.get())); }

  void count_dependencies(const Ref<Node>& root) {
    std::vector<Node*> stack;
    if (root->pass != number_) {
      meet(*root);
      stack.push_back(root.get());
    }
    ++root->dependencies;
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      for (const Edge& edge : node->edges) {
        if (!edge.node) continue;
        if (edge.node->pass != number_) {
          meet(*edge.node);
          stack.push_back(edge.node.get());
        }
        ++edge.node->dependencies;
      }
    }
  }

  void evaluate(Node& node) {
    const Setting<std::uint32_t> module(run_.module, node.module);
    const Setting<const char*> op(run_.op, node.name);
    const StreamId outside = run_.stream;
    const Setting<StreamId> stream(run_.stream, node.stream);
    if (!ready_events_.empty()) wait_for_gradients(node);
    for (const std::function<void()>* told : node.told) (*told)();
    if (node.variable) {
      if (node.stream != outside) leaf_streams_.insert(node.stream);
      if (!leaf_) return accumulate_grad(node);
      gradient_ = std::move(node.gradients[0]);
      return;
    }
    Tensors outputs = call(node);
    node.gradients.clear();
    node.saved.clear();
    for (std::size_t i = 0; i < node.edges.size(); ++i) {
      const Edge& edge = node.edges[i];
      if (!leads(edge)) continue;
      hand_on(edge, std::move(outputs[i]));
      if (--edge.node->dependencies == 0) push(edge.node);
    }
  }

  /// torch: InputBuffer::add, which adds on the stream of the node that is handed the gradient.
  void hand_on(const Edge& edge, Tensor gradient) {
    Node& to = *edge.node;
    const auto input = static_cast<std::size_t>(edge.output);
    const bool is_first = !to.gradients[input];
    if (gradient && to.stream != run_.stream) {
      run_.record_stream(*gradient.impl().storage, to.stream);
      const EventNumber event = run_.stream_calls.record(run_.stream);
      if (is_first)
        ready_events_.push_back({&to, edge.output, event});
      else
        run_.stream_calls.stream_waits(to.stream, event);
    }
    if (gradient && !is_first && !ready_events_.empty()) wait_for_gradients(to, edge.output);
    const Setting<StreamId> stream(run_.stream, to.stream);
    add_to(to.gradients[input], std::move(gradient), to.outputs[input].distributed);
  }

  /// Of one input, or of all.
  void wait_for_gradients(const Node& node, std::int32_t input = -1) {
    std::erase_if(ready_events_, [&](const Ready& ready) {
      if (ready.node != &node || (input >= 0 && ready.input != input)) return false;
      run_.stream_calls.stream_waits(node.stream, ready.event);
      return true;
    });
  }

  Tensors call(Node& node) {
    const auto defined = [](const Tensor& gradient) { return static_cast<bool>(gradient); };
    if (std::none_of(node.gradients.begin(), node.gradients.end(), defined)) return Tensors(node.edges.size());
    Tensors outputs;
    {
      const OnlyEdges asked(node, [&](const Edge& edge) { return leads(edge); });
      Backward call{run_, node, node.gradients, {}, node.facts};
      for (Saved& saved : node.saved) call.saved.push_back(unpack(run_, saved));
      outputs = node.backward(call);
    }
    TM_CHECK(outputs.size() == node.edges.size(), "a backward formula gives one gradient per input");
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i] && node.edges[i].node) validate(outputs[i], node.edges[i]);
    return outputs;
  }

  /// torch: validate_outputs: a gradient has the sizes and the type of what it is the gradient of.
  static void validate(Tensor& gradient, const Edge& edge) {
    const Node::OutputInfo& expected = edge.node->outputs[static_cast<std::size_t>(edge.output)];
    if (!(gradient.sizes() == expected.sizes)) gradient = plain_sum_to(std::move(gradient), expected.sizes);
    if (gradient.dtype() != expected.dtype) gradient = plain_cast(std::move(gradient), expected.dtype);
  }

  Run& run_;
  const std::uint32_t number_;
  const bool nested_;
  std::vector<Ref<Node>> ready_;
  std::vector<Suspended> suspended_;
  std::vector<Ready> ready_events_;
  std::set<StreamId> leaf_streams_;  // but the one that the pass was started on
  // Of a pass for one leaf.
  const Tensor leaf_;
  std::vector<Node*> met_;
  std::unordered_set<const Node*> on_the_way_;
  Tensor gradient_;
};

/// Roots that are tensors.
std::vector<Edge> places_of(const Tensors& roots) {
  std::vector<Edge> edges;
  for (const Tensor& root : roots) edges.push_back({root.impl().grad_fn, root.impl().output});
  return edges;
}

void run_pass(Run& run, Pass& pass, const std::vector<Edge>& roots, Tensors& gradients) {
  const NoGrad no_grad(run);
  const Setting<bool> thread(run.in_backward, true);
  const Setting<CheckpointFrame*> hooks(run.checkpoint, nullptr);
  pass.start(roots, gradients);
  pass.finish();
}

}  // namespace

void backward(const std::vector<Edge>& roots, Tensors gradients) {
  TM_CHECK(!roots.empty(), "nothing to go backward from");
  for (const Edge& root : roots) TM_CHECK(root.node, "nothing to go backward from");
  Run& run = *roots[0].node->run;
  Pass pass(run, run.in_backward);
  run_pass(run, pass, roots, gradients);
}

void backward(const Tensors& roots, Tensors gradients) { backward(places_of(roots), std::move(gradients)); }

Tensor gradient_at(const Tensor& leaf, const Tensor& root, Tensor gradient) {
  TM_CHECK(root.impl().grad_fn, "nothing to go backward from");
  Run& run = root.run();
  Pass pass(run, run.in_backward, leaf);
  Tensors gradients{std::move(gradient)};
  run_pass(run, pass, places_of({root}), gradients);
  return pass.take_gradient();
}

void backward(const Tensor& root) {
  Run& run = root.run();
  const Tensor ones = [&] {
    const Op op(run, "aten::ones_like");
    return empty_like(root);
  }();
  backward(Tensors{root}, Tensors{ones});
}

}  // namespace tidemark
