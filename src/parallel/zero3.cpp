#include "parallel/zero3.h"

#include <algorithm>
#include <deque>

#include "base/error.h"
#include "parallel/tensor_text.h"
#include "parallel/zero3_linear.h"
#include "parallel/zero3_optimizer.h"
#include "parallel/zero_engine.h"

namespace tidemark {
namespace {

/// DEFAULT_LEAF_MODULE_CLASSES: the blocks that choose experts, of the models that zero3 knows.
/// deepspeed/runtime/zero/leaf_module_config.py (0.19.8)
bool is_leaf_module(const Module& module) { return module.has("experts"); }

/// DeepSpeedZeRoOffload: the hooks on every module.  deepspeed/runtime/zero/parameter_offload.py (0.19.8)
class Offload {
 public:
  Offload(Run& run, Module& root, const Zero3Options& options, std::shared_ptr<ParameterStore> store)
      : run_(run), kept_(std::move(store)), store_(*kept_), coordinator_(run, store_, options) {
    store_.convert(root);
    add_hooks(root);
    wrappers_.resize(std::max<std::size_t>(root.wrappers.size(), 1));
    if (root.wrappers.empty()) wrappers_[0].own = modules_.at(&root).own;
    for (Zero3Module& wrapper : wrappers_) wrapper.within = modules_.at(&root).within;
    stack_.push_back(&wrappers_[0]);
  }
  ~Offload() {
    for (auto& [module, state] : modules_) module->hooks = nullptr;
  }
  Offload(const Offload&) = delete;
  Offload& operator=(const Offload&) = delete;

  std::function<void(const Zero3Parameters& parameters)> leaf_module_is_done;

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
      if (outputs.tokens.log_probs) give_back(*wrapper, outputs.tokens.log_probs);
    }
    in_forward_ = false;
  }

 private:
  void add_hooks(Module& module) {
    Zero3Module& state = modules_[&module];
    for (const std::shared_ptr<Parameter>& parameter : module.parameters())
      if (!parameter->is_buffer) state.own.push_back(&store_.of(parameter->tensor));
    add_calls(module, state);
    if (is_leaf_module(module)) become_leaf(module, state);
    state.within = state.own;
    if (state.is_leaf) return;
    for (const std::unique_ptr<Module>& child : module.children()) {
      add_hooks(*child);
      const Zero3Parameters& within = modules_[child.get()].within;
      state.within.insert(state.within.end(), within.begin(), within.end());
    }
  }

  void add_calls(Module& module, Zero3Module& state) {
    state.hooks.entered = [this, &state](Module&) { enter(state); };
    state.hooks.before_forward = [this, &state](Module&, Tensor& input) { take(state, input); };
    state.hooks.returning = [this, &state](Module&) { leave(state); };
    state.hooks.after_forward = [this, &state](Module&, Tensor& output) { give_back(state, output); };
    state.hooks.asked_for = [this](const Module&, Parameter& parameter) { ask(parameter); };
    module.hooks = &state.hooks;
  }

  /// Its parameters are gathered with those of all that is in it, which have no hooks of their own, and their gradients
  /// are reduced together.  stage3.py: create_reduce_and_remove_grad_hooks
  void become_leaf(Module& module, Zero3Module& state) {
    Leaf& leaf = leaves_.emplace_back(*this, state);
    state.is_leaf = true;
    for (const std::unique_ptr<Module>& child : module.children())
      visit_parameters(*child, [&](const Module&, Parameter& parameter) {
        if (!parameter.is_buffer) state.own.push_back(&store_.of(parameter.tensor));
      });
    for (Zero3Parameter* parameter : state.own) parameter->of_leaf = true;
    state.hooks.before_forward = [this, &state, &leaf](Module&, Tensor& input) {
      take(state, input);
      leaf.take(input);
    };
    state.hooks.after_forward = [this, &state, &leaf](Module&, Tensor& output) {
      give_back(state, output);
      leaf.give_back(output);
    };
  }

  /// torch.utils.hooks.BackwardHook, whose hook of the user's reduces the gradients of a leaf module.
  class Leaf {
   public:
    Leaf(Offload& offload, Zero3Module& module) : offload_(offload), module_(module) {}

    /// setup_input_hook
    void take(Tensor& input) {
      input_needs_grad_ = needs_grad(input);
      if (input_needs_grad_) input = hand_on({input}, at_inputs_)[0];
    }
    /// setup_output_hook
    void give_back(Tensor& output) {
      if (!needs_grad(output)) return;
      if (!input_needs_grad_)  // the hook would come before there are gradients
        throw Error(Errc::unsupported, "nothing in front of a sparse block is trained, which is not known to zero3",
                    "freeze", "zero2 is known with every part frozen");
      output = hand_on({output}, at_outputs_)[0];
      outputs_ = output.impl().grad_fn.get();
    }

   private:
    Offload& offload_;
    Zero3Module& module_;
    bool input_needs_grad_ = false;
    Node* outputs_ = nullptr;
    Tensor gradient_;  // grad_outputs
    const std::function<void()> at_outputs_ = [this] { gradient_ = outputs_->gradients[0]; };
    const std::function<void()> at_inputs_ = [this] {
      offload_.leaf_module_is_done(module_.own);
      gradient_.reset();
    };
  };

  /// _pre_forward_module_hook
  void enter(Zero3Module& module) {
    const AsideOfOperations hook(run_);
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
    const AsideOfOperations hook(run_);
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
    const AsideOfOperations hook(run_);
    Zero3Parameters& external = stack_.back()->external;
    if (std::find(external.begin(), external.end(), &asked) == external.end()) external.push_back(&asked);
    store_.gather({&asked});
  }

  Run& run_;
  const std::shared_ptr<ParameterStore> kept_;
  ParameterStore& store_;
  Coordinator coordinator_;
  std::unordered_map<Module*, Zero3Module> modules_;
  std::deque<Leaf> leaves_;
  std::vector<Zero3Module> wrappers_;  // what is called in place of the root: itself, or what is around it
  std::vector<Zero3Module*> stack_;    // FWD_MODULE_STACK
  bool in_forward_ = false;
};

/// repr of {parameter: name}, which is in the log of the optimizer's arguments.  Of what is in parts there is nothing.
void print_parameters(Module& root, ParameterStore& store) {
  visit_parameters(root, [&](const Module&, Parameter& parameter) {
    if (!store.find(parameter.tensor)) print_tensor(alias(parameter.tensor));
  });
}

}  // namespace

StepHooks zero3(Run& run, Module& root, const std::vector<TensorList>& groups, const Zero3Options& options,
                std::shared_ptr<ParameterStore> made) {
  if (!made) {  // else types are left as they are
    made = std::make_shared<ParameterStore>(run, options);
    cast_to_bf16(run, root);
  }
  {
    const Setting<Category> category(run.category, Category::workspace);
    print_parameters(root, *made);
  }
  run.linear = zero3_linear;
  run.prefix_modules(root.number(), "module");
  const auto offload = std::make_shared<Offload>(run, root, options, std::move(made));
  const auto optimizer =
      std::make_shared<Zero3Optimizer>(run, offload->store(), offload->coordinator(), groups, options);
  StepHooks hooks;
  hooks.optimizer_parameters = optimizer->masters();
  hooks.before_forward = [offload] { offload->before_root(); };
  hooks.after_forward = [offload](ModelOutputs& outputs) { offload->after_root(outputs); };
  offload->leaf_module_is_done = [optimizer](const Zero3Parameters& parameters) {
    optimizer->leaf_module_is_done(parameters);
  };
  hooks.gradient_is_ready = [offload, optimizer](const Tensor& leaf) { optimizer->gradient_is_ready(leaf); };
  hooks.backward = [optimizer](const Tensor& loss, bool is_last) { optimizer->backward(loss, is_last); };
  hooks.step = [optimizer](Optimizer& inner) { optimizer->step(inner); };
  hooks.is_engine = true;
  hooks.loop_keeps_loss = true;
  hooks.is_settled = [offload, passes = 2 * options.grad_accumulation] {
    return offload->coordinator().has_known_for(passes);
  };
  return hooks;
}

}  // namespace tidemark
