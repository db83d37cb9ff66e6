#include "parallel/gemini.h"

#include <map>
#include <optional>

#include "parallel/barrier.h"
#include "parallel/gemini_manager.h"
#include "parallel/gemini_optimizer.h"
#include "tensor/arithmetic.h"
#include "tensor/parameter_hooks.h"

namespace tidemark {
namespace {

/// `p.data = p.data.to(dtype)`, where it lies.
void cast(Parameter& parameter, Dtype dtype) {
  TensorImpl& tensor = parameter.tensor.impl();
  parameter.dtype = dtype;
  if (tensor.dtype == dtype) return;
  const Op op(*tensor.run, "aten::to");
  const Setting<bool> on_host(tensor.run->on_host, parameter.tensor.is_on_host());
  const std::uint32_t owner = tensor.run->on_host ? 0 : tensor.run->module_of(*tensor.storage);
  tensor.storage = plain_cast(parameter.tensor, dtype).impl().storage;
  tensor.run->set_module(*tensor.storage, owner);
  tensor.dtype = dtype;
}

/// `p.data = p.data.to(device)`
void move(Run& run, Parameter& parameter) {
  if (!parameter.tensor.is_on_host()) return;
  const Op op(run, "aten::to");
  parameter.tensor.impl().storage = empty(run, parameter.tensor.sizes(), parameter.tensor.dtype()).impl().storage;
}

/// _cast_buffers
void cast_buffers(Run& run, Module& module, Dtype dtype) {
  module.dtype = dtype;
  for (const std::shared_ptr<Parameter>& parameter : module.parameters()) {
    if (!parameter->is_buffer) continue;
    move(run, *parameter);
    if (is_floating(parameter->tensor.dtype())) cast(*parameter, dtype);
  }
  for (const std::unique_ptr<Module>& child : module.children()) cast_buffers(run, *child, dtype);
}

std::vector<std::int64_t> sizes_of(Module& root) {
  std::vector<std::int64_t> sizes;
  visit_parameters(root, [&](const Module&, Parameter& parameter) { sizes.push_back(elements_of(parameter.sizes)); });
  return sizes;
}

/// GeminiDDP, and the hooks of ColoParameter.__torch_function__ around every operation that takes parameters.
/// colossalai/tensor/{colo_parameter,param_op_hook}.py
class Wrapper {
 public:
  Wrapper(Run& run, Module& root, const GeminiOptions& options) : run_(run), optimizer_(run) {
    const ChunkSize chunk_size = search_chunk_size(sizes_of(root), options.ranks, options.search);
    {
      const Setting<Category> category(run.category, Category::communication);
      for (int i = 0; i < 3; ++i) barrier(run, barrier_);
    }
    {
      const Setting<Category> category(run.category, Category::other);
      const Op op(run, "aten::to");
      overflow_counter_ = empty(run, Dims{1}, Dtype::int32);
    }
    manager_.emplace(run, options, chunk_size);
    init_chunks(root, options.precision);
    {
      const Setting<Category> category(run.category, Category::parameters);
      cast_buffers(run, root, options.precision);
    }
    optimizer_.wrap(masters_, options);
    hooks_.before = [this](Tensors& inputs) { before(inputs); };
    hooks_.after = [this](Tensor& output) { after(output); };
    hooks_.takes_gradient = [this](const Tensor& leaf, const Tensor& gradient) {
      const GeminiManager::Place* place = manager_->find(leaf);
      if (place) manager_->take_gradient(*place, gradient);
      return place != nullptr;
    };
    run.parameter_hooks = &hooks_;
  }
  ~Wrapper() { run_.parameter_hooks = nullptr; }
  Wrapper(const Wrapper&) = delete;
  Wrapper& operator=(const Wrapper&) = delete;

  GeminiManager& manager() { return *manager_; }
  GeminiOptimizer& optimizer() { return optimizer_; }

  void backward(const Tensor& loss) {
    manager_->begin_backward();
    optimizer_.backward(loss);
    manager_->end_backward();
  }

 private:
  using Places = std::vector<GeminiManager::Place>;

  /// _init_chunks
  void init_chunks(Module& root, Dtype precision) {
    visit_parameters(root, [&](const Module&, Parameter& parameter) {
      const Setting<Category> category(run_.category, Category::parameters);
      cast(parameter, precision);
      if (!parameter.tensor.requires_grad()) return move(run_, parameter);
      manager_->add_parameter(parameter.tensor);
      masters_.push_back(manager_->add_master(copy_of(parameter.tensor)));
    });
    manager_->close_all();
  }

  /// p.clone(), and .float() of it
  Tensor copy_of(const Tensor& parameter) const {
    const Setting<Category> category(run_.category, Category::optimizer_state);
    const Tensor clone = [&] {
      const Op op(run_, "aten::clone");
      return empty(run_, parameter.sizes(), parameter.dtype());
    }();
    const Op op(run_, "aten::to");
    return empty(run_, parameter.sizes(), Dtype::f32);
  }

  /// The operations of a backward pass know their parameters as long as there is a graph.
  struct Operation {
    Places parameters;
    std::function<void()> before_backward, after_backward;
  };

  Operation& operation_of(const Tensors& inputs) {
    std::vector<const TensorImpl*> key;
    Places places;
    for (const Tensor& input : inputs) {
      const GeminiManager::Place* place = input ? manager_->find(input) : nullptr;
      if (!place) continue;
      key.push_back(&input.impl());
      places.push_back(*place);
    }
    const auto [entry, is_new] = operations_.try_emplace(std::move(key));
    Operation& operation = entry->second;
    if (is_new) {
      operation.parameters = std::move(places);
      operation.before_backward = [this, &operation] { manager_->before_operation(operation.parameters); };
      operation.after_backward = [this, &operation] { manager_->after_operation(operation.parameters); };
    }
    return operation;
  }

  /// ColoParamOpHookManager.pre_op
  void before(Tensors& inputs) {
    running_ = &operation_of(inputs);
    manager_->before_operation(running_->parameters);
    Tensors with_grad;
    for (const Tensor& input : inputs)
      if (input && input.requires_grad()) with_grad.push_back(input);
    if (with_grad.empty()) return;
    const Tensors handed_on = hand_on(std::move(with_grad), running_->after_backward);
    std::size_t next = 0;
    for (Tensor& input : inputs)
      if (input && input.requires_grad()) input = handed_on[next++];
  }

  /// ColoParamOpHookManager.post_op
  void after(Tensor& output) {
    manager_->after_operation(running_->parameters);
    if (output.requires_grad()) output = hand_on({output}, running_->before_backward)[0];
  }

  Run& run_;
  GeminiOptimizer optimizer_;
  Tensor barrier_, overflow_counter_;
  std::optional<GeminiManager> manager_;
  Places masters_;
  ParameterHooks hooks_;
  std::map<std::vector<const TensorImpl*>, Operation> operations_;
  Operation* running_ = nullptr;
};

}  // namespace

StepHooks gemini(Run& run, Module& root, const GeminiOptions& options) {
  run.prefix_modules(root.number(), "module");
  const auto wrapper = std::make_shared<Wrapper>(run, root, options);
  StepHooks hooks;
  hooks.optimizer_parameters = wrapper->optimizer().parameters();
  hooks.backward = [wrapper](const Tensor& loss, bool /*is_last*/) { wrapper->backward(loss); };
  hooks.step = [wrapper](Optimizer& inner) {
    wrapper->optimizer().step(inner);
    wrapper->manager().end_step();
  };
  // A step is like the last one when all passes of that one were like the second, which is remembered.
  hooks.is_settled = [wrapper, passes = options.grad_accumulation + 2] {
    return wrapper->manager().passes() >= passes;
  };
  return hooks;
}

}  // namespace tidemark
