#include "parallel/zero3.h"

#include <algorithm>

#include "base/error.h"
#include "parallel/tensor_text.h"
#include "parallel/zero3_linear.h"
#include "parallel/zero3_optimizer.h"
#include "parallel/zero_engine.h"

namespace tidemark {
namespace {

/// DeepSpeedZeRoOffload: the hooks on every module.  deepspeed/runtime/zero/parameter_offload.py (0.19.8)
class Offload {
 public:
  Offload(Run& run, Module& root, const Zero3Options& options)
      : run_(run), store_(run, root, options), coordinator_(run, store_, options) {
    add_hooks(root);
    wrappers_.resize(std::max<std::size_t>(root.wrappers.size(), 1));
    if (root.wrappers.empty()) wrappers_[0].own = modules_.at(&root).own;
    stack_.push_back(&wrappers_[0]);
  }
  ~Offload() {
    for (auto& [module, state] : modules_) module->hooks = nullptr;
  }
  Offload(const Offload&) = delete;
  Offload& operator=(const Offload&) = delete;

  ParameterStore& store() { return store_; }
  Coordinator& coordinator() { return coordinator_; }

  void before_root() {
    in_forward_ = true;
    coordinator_.reset_step();
    for (Zero3Module& wrapper : wrappers_) enter(wrapper);
  }
  void after_root(ModelOutputs& outputs) {
    for (auto wrapper = wrappers_.rbegin(); wrapper != wrappers_.rend(); ++wrapper) {
      leave(*wrapper);
      give_back(*wrapper, outputs.loss);
    }
    in_forward_ = false;
  }

 private:
  void add_hooks(Module& module) {
    Zero3Module& state = modules_[&module];
    for (const std::shared_ptr<Parameter>& parameter : module.parameters())
      if (!parameter->is_buffer) state.own.push_back(&store_.of(parameter->tensor));
    state.hooks.entered = [this, &state](Module&) { enter(state); };
    state.hooks.before_forward = [this, &state](Module&, Tensor& input) { take(state, input); };
    state.hooks.returning = [this, &state](Module&) { leave(state); };
    state.hooks.after_forward = [this, &state](Module&, Tensor& output) { give_back(state, output); };
    state.hooks.asked_for = [this](const Module&, Parameter& parameter) { ask(parameter); };
    module.hooks = &state.hooks;
    for (const std::unique_ptr<Module>& child : module.children()) add_hooks(*child);
  }

  /// _pre_forward_module_hook
  void enter(Zero3Module& module) {
    stack_.push_back(&module);
    const NoGrad no_grad(run_);
    coordinator_.enter(module, true);
    module.gradients_remaining = 0;
  }

  /// _post_backward_module_hook: PostBackwardFunctionModule.apply
  void take(Zero3Module& module, Tensor& input) {
    if (!module.after_backward)
      module.after_backward = [this, &module] {
        if (--module.gradients_remaining == 0) coordinator_.release_module(module, false);
      };
    if (input.requires_grad()) ++module.gradients_remaining;
    input = hand_on({input}, module.after_backward)[0];
  }

  /// _post_forward_module_hook
  void leave(Zero3Module& module) {
    stack_.pop_back();
    coordinator_.release_module(module, true);
  }

  /// _pre_backward_module_hook: PreBackwardFunctionForModule.apply
  void give_back(Zero3Module& module, Tensor& output) {
    if (!module.before_backward) module.before_backward = [this, &module] { coordinator_.enter(module, false); };
    output = hand_on({output}, module.before_backward)[0];
  }

  /// ZeROOrderedDict.__getitem__: who asks for what is not there, gets it, and from now on with every call.
  void ask(Parameter& parameter) {
    if (parameter.is_buffer) return;
    Zero3Parameter& asked = store_.of(parameter.tensor);
    if (asked.status != Zero3Parameter::Status::not_available) return;
    TM_CHECK(in_forward_, "a parameter is asked for that is not there");
    Zero3Parameters& external = stack_.back()->external;
    if (std::find(external.begin(), external.end(), &asked) == external.end()) external.push_back(&asked);
    store_.gather({&asked});
  }

  Run& run_;
  ParameterStore store_;
  Coordinator coordinator_;
  std::unordered_map<Module*, Zero3Module> modules_;
  std::vector<Zero3Module> wrappers_;  // what is called in place of the root: itself, or what is around it
  std::vector<Zero3Module*> stack_;    // FWD_MODULE_STACK
  bool in_forward_ = false;
};

/// repr of {parameter: name}, which is in the log of the optimizer's arguments.
void print_parameters(Module& root) {
  visit_parameters(root, [](const Module&, Parameter& parameter) { print_tensor(alias(parameter.tensor)); });
}

}  // namespace

StepHooks zero3(Run& run, Module& root, const Zero3Options& options) {
  cast_to_bf16(run, root);
  trained_by_zero(root);
  {
    const Setting<Category> category(run.category, Category::workspace);
    print_parameters(root);
  }
  run.linear = zero3_linear;
  run.prefix_modules(root.number(), "module");
  const auto offload = std::make_shared<Offload>(run, root, options);
  const auto optimizer = std::make_shared<Zero3Optimizer>(run, offload->store(), offload->coordinator(), options);
  StepHooks hooks;
  hooks.optimizer_parameters = optimizer->masters();
  hooks.before_forward = [offload] { offload->before_root(); };
  hooks.after_forward = [offload](ModelOutputs& outputs) { offload->after_root(outputs); };
  hooks.gradient_is_ready = [offload, optimizer](const Tensor& leaf) { optimizer->gradient_is_ready(leaf); };
  hooks.backward = [optimizer](const Tensor& loss, bool is_last) { optimizer->backward(loss, is_last); };
  hooks.step = [optimizer](Optimizer& inner) { optimizer->step(inner); };
  hooks.loop_keeps_loss = true;
  hooks.is_settled = [offload, passes = 2 * options.grad_accumulation] {
    return offload->coordinator().has_known_for(passes);
  };
  return hooks;
}

}  // namespace tidemark
