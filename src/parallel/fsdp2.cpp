#include "parallel/fsdp2.h"

#include <algorithm>
#include <memory>

#include "parallel/fsdp2_group.h"
#include "parallel/fsdp2_units.h"
#include "parallel/wrapping.h"
#include "tensor/engine.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

class FsdpState;
using State = FsdpGroup::State;

/// What the states of a model share.  torch: _fsdp_state.py, FSDPStateContext
struct StateContext {
  FsdpContext communication;
  std::vector<std::unique_ptr<FsdpState>> states;  // the root's first
  const FsdpState* iter_forward_root = nullptr;
  bool post_backward_final_callback_queued = false;
};

/// The hooks of the modules that fully_shard was called on.  torch: _fsdp_state.py, FSDPState
class FsdpState {
 public:
  FsdpState(Run& run, StateContext& context, std::vector<Module*> modules, std::unique_ptr<FsdpGroup> group,
            std::optional<Dtype> param_dtype)
      : run_(run),
        context_(context),
        modules_(std::move(modules)),
        group_(std::move(group)),
        param_dtype_(param_dtype) {
    if (param_dtype)
      hooks_.replace_argument = [this](Module&, Tensor& argument) {
        if (modules_to_run_.empty()) cast_forward_input(argument);
      };
    hooks_.sees_keywords = true;
    hooks_.before_forward = [this](Module&, Tensor& input) {
      if (is_first_to_run()) pre_forward(input);
    };
    hooks_.full_tensor = [this](const Parameter& parameter) {
      return group_ && !group_->is_unsharded() ? group_->full_tensor(parameter) : parameter.tensor;
    };
    hooks_.returning = [this](Module&) { is_first_output_ = true; };
    hooks_.after_forward = [this](Module& module, Tensor& output) {  // of the others nothing is gathered any more
      if (std::exchange(is_first_output_, false) && is_last_to_run(module)) post_forward(output);
    };
  }
  FsdpState(const FsdpState&) = delete;
  FsdpState& operator=(const FsdpState&) = delete;

  const std::vector<Module*>& modules() const { return modules_; }
  const ModuleHooks* hooks() const { return &hooks_; }
  FsdpGroup* group() const { return group_.get(); }

  /// MixedPrecisionPolicy.cast_forward_inputs
  void cast_forward_input(Tensor& argument) {
    const InHook hook(run_);
    if (state_ != State::pre_backward && argument && is_floating(argument.dtype()))
      argument = to(std::move(argument), *param_dtype_);
  }

  void pre_forward(Tensor& input) {
    const InHook hook(run_);
    if (state_ == State::pre_backward) return unshard_again();
    state_ = State::forward;
    if (!context_.iter_forward_root) context_.iter_forward_root = this;
    if (!group_) return;
    group_->pre_forward();
    if (needs_grad(input)) input = std::move(hand_on({input}, post_backward_)[0]);
  }

  /// Returns what it names until it returns.  Of the root `complete_others` is for the groups that are not through.
  std::optional<AllGatherResult> post_forward(const Tensor& output, const std::function<void()>& complete_others = {}) {
    if (state_ == State::pre_backward) return {};
    const InHook hook(run_);
    if (group_) group_->post_forward();
    if (needs_grad(output)) accumulator_ = tell_of_gradient(output, pre_backward_);
    state_ = State::idle;
    if (context_.iter_forward_root != this) return {};
    if (complete_others) complete_others();
    context_.iter_forward_root = nullptr;
    std::optional<AllGatherResult> all_gather_state = std::exchange(context_.communication.all_gather_state, {});
    if (run_.torch().fsdp2_keeps_few_names) all_gather_state.reset();
    return all_gather_state;
  }

  /// _force_complete_incomplete_states; whether there was something to complete.
  bool complete(const ModelOutputs& outputs) {
    if (modules_to_run_.empty()) return false;
    const InHook hook(run_);
    if (group_) group_->post_forward();
    for (const Tensor& output : {outputs.loss, outputs.tokens.log_probs})
      if (output) also_returns(output);
    state_ = State::idle;
    modules_to_run_.clear();
    return true;
  }

  /// _register_pre_backward_hook, of one more output
  void also_returns(const Tensor& output) {
    const InHook hook(run_);
    if (needs_grad(output)) tell_of_gradient(output, pre_backward_);
  }

  /// Its part of _root_post_backward_final_callback
  void end_backward(bool is_last_backward) {
    state_ = State::idle;
    if (is_last_backward) modules_to_run_.clear();  // some of a group may not have been called
    if (!group_) return;
    if (group_->state != State::post_backward) group_->post_backward();
    group_->state = State::idle;
  }

 private:
  /// _register_group_forward_hooks
  bool is_first_to_run() {
    if (modules_.size() == 1) return true;
    return modules_to_run_.empty() && !(modules_to_run_ = modules_).empty();
  }
  bool is_last_to_run(Module& module) {
    std::erase(modules_to_run_, &module);
    return modules_to_run_.empty();
  }

  /// When a checkpointed block runs again.
  void unshard_again() {
    if (!group_ || group_->is_unsharded()) return;
    group_->unshard();
    group_->wait_for_unshard();
  }

  void pre_backward() {
    accumulator_.reset();
    state_ = State::pre_backward;
    context_.post_backward_final_callback_queued = true;
    if (group_) group_->pre_backward();
  }

  Run& run_;
  StateContext& context_;
  const std::vector<Module*> modules_;
  std::vector<Module*> modules_to_run_;  // of several, while some of them have run
  bool is_first_output_ = false;         // of the call that returns
  const std::unique_ptr<FsdpGroup> group_;
  const std::optional<Dtype> param_dtype_;
  State state_ = State::idle;
  Ref<Node> accumulator_;  // of an output that is a leaf
  ModuleHooks hooks_;
  const std::function<void()> pre_backward_ = [this] { pre_backward(); };
  const std::function<void()> post_backward_ = [this] { group_->post_backward(); };
};

/// What one call takes: _get_managed_modules and _get_managed_states.
struct Managed {
  std::vector<ManagedParameter> parameters, buffers;
};

/// accelerate: fsdp2_prepare_model, where weights are on the host still: in mixed precision what trains is fp32.
void cast_trained_to_fp32(Module& root) {
  visit_parameters(root, [](const Module&, Parameter& parameter) {
    if (parameter.tensor.requires_grad()) parameter.dtype = parameter.tensor.impl().dtype = Dtype::f32;
  });
}

/// Children first; not those that are sharded by themselves.
void collect_managed(Module& module, const std::vector<Module*>& apart, Managed& managed) {
  for (const std::unique_ptr<Module>& child : module.children())
    if (std::ranges::find(apart, child.get()) == apart.end()) collect_managed(*child, apart, managed);
  for (const std::shared_ptr<Parameter>& own : module.parameters()) {
    std::vector<ManagedParameter>& kind = own->is_buffer ? managed.buffers : managed.parameters;
    if (std::ranges::find(kind, own.get(), &ManagedParameter::parameter) == kind.end())
      kind.push_back({&module, own.get()});
  }
}

/// A model after fully_shard.
class FullySharded {
 public:
  FullySharded(Run& run, Module& root, const Fsdp2Options& options) : run_(run), options_(options) {
    if (options.as_accelerate && options.param_dtype) cast_trained_to_fp32(root);
    TensorList named = options.as_accelerate ? named_while_prepared(root) : TensorList();
    std::vector<Module*> apart;
    for (const FsdpUnit& unit : fsdp2_units(root, options)) {
      context_.states.push_back(fully_shard(unit, apart));
      apart.insert(apart.end(), unit.modules.begin(), unit.modules.end());
    }
    for (Tensor& tensor : named) tensor.reset();
    // What is called through hooks: all but the root, which before_forward and after_forward stand for.
    for (const std::unique_ptr<FsdpState>& state : context_.states)
      if (state != context_.states.back())
        for (Module* module : state->modules()) module->hooks = state->hooks();
    sort_states(root);
    if (options.param_dtype) set_dtype(root, *options.param_dtype);
    run.rename_module(root.number(), "FSDP" + root.class_name);
  }

  void before_forward(Batch& inputs) {
    if (options_.param_dtype) {
      root().cast_forward_input(inputs.pixel_values);
      root().cast_forward_input(inputs.input_ids);  // hidden states, of a stage of a pipeline
    }
    root().pre_forward(inputs.input_ids);
  }
  /// Of a stage the first output is all that there is.
  void after_forward(ModelOutputs& outputs) {
    const ModelOutputs before = outputs;
    const auto named = root().post_forward(outputs.loss ? outputs.loss : outputs.held.front(), [&] {
      if (outputs.tokens.log_probs) root().also_returns(outputs.tokens.log_probs);
      if (run_.torch().fsdp2_completes_groups) complete_groups(outputs);
    });
    if (options_.as_accelerate && options_.param_dtype) cast_outputs(outputs);
  }

  void backward(const Tensor& loss, bool is_last) {
    for (const std::unique_ptr<FsdpState>& state : context_.states)
      if (state->group()) state->group()->reduce_grads = is_last || options_.requires_gradient_sync;
    const Tensor gradient = fresh("aten::ones_like", loss);
    tidemark::backward(Tensors{loss}, Tensors{gradient});
    finish_pass(true);
  }

  /// torch/distributed/pipelining/stage.py, backward_maybe_with_nosync
  void around_backward(const std::function<void()>& pass, bool measures) {
    if (!measures) set_sync(false);
    pass();
    finish_pass(measures);
  }

  /// PipelineStage.perform_reduce_grad; since torch 2.15.0 FSDPState.finalize_backward, from the last to the first
  void reduce_gradients() {
    set_sync(true);
    std::vector<FsdpGroup*> groups;
    for_each_group([&](FsdpGroup& group) { groups.push_back(&group); });
    if (run_.torch().fsdp2_finalizes_all_at_once) std::ranges::reverse(groups);
    for (FsdpGroup* group : groups) group->post_backward();
    end_backward(true);
  }

  void unshard() {
    for_each_group([](FsdpGroup& group) { group.unshard(); });
  }
  void wait_for_unshard() {
    for_each_group([](FsdpGroup& group) { group.wait_for_unshard(); });
  }
  void reshard() {
    for_each_group([](FsdpGroup& group) { group.reshard(); });
  }

 private:
  /// As the root finds them, by named_modules(): FSDPState._lazy_init.  Its own is the first.
  void sort_states(Module& root) {
    std::vector<const FsdpState*> order;
    const auto visit = [&](const auto& self, Module& module) -> void {
      for (const std::unique_ptr<FsdpState>& state : context_.states)
        if (std::ranges::find(state->modules(), &module) != state->modules().end()) order.push_back(state.get());
      for (const std::unique_ptr<Module>& child : module.children()) self(self, *child);
    };
    visit(visit, root);
    std::ranges::sort(context_.states, {}, [&](const std::unique_ptr<FsdpState>& state) {
      return std::ranges::find(order, state.get()) - order.begin();
    });
  }

  void complete_groups(ModelOutputs& outputs) {
    for (auto state = context_.states.rbegin(); state != context_.states.rend(); ++state)
      if (state->get() != &root() && (*state)->complete(outputs) && options_.as_accelerate && options_.param_dtype)
        cast_outputs(outputs);
  }

  /// MixedPrecisionPolicy.output_dtype, in the root's post_forward
  void cast_outputs(ModelOutputs& outputs) {
    const InHook hook(run_);
    const auto cast = [&](Tensor& tensor) {
      if (tensor && is_floating(tensor.dtype())) tensor = to(tensor, *options_.param_dtype);
    };
    cast(outputs.loss);
    cast(outputs.tokens.log_probs);
    cast(outputs.tokens.entropy);
    for (Tensor& tensor : outputs.held) cast(tensor);
  }

  FsdpState& root() { return *context_.states.front(); }

  template <class Do>
  void for_each_group(Do&& what) {
    for (const std::unique_ptr<FsdpState>& state : context_.states)
      if (state->group()) what(*state->group());
  }

  /// set_reshard_after_backward, set_requires_gradient_sync
  void set_sync(bool is_on) {
    for_each_group([is_on](FsdpGroup& group) { group.reduce_grads = group.reshard_after_backward = is_on; });
  }

  /// Within the pass still: what it began with is there.
  void finish_pass(bool is_last_backward) {
    if (std::exchange(context_.post_backward_final_callback_queued, false)) end_backward(is_last_backward);
  }

  /// _root_post_backward_final_callback
  void end_backward(bool is_last_backward) {
    const bool all_at_once = run_.torch().fsdp2_finalizes_all_at_once;
    for (const std::unique_ptr<FsdpState>& state : context_.states) {
      state->end_backward(is_last_backward);
      if (is_last_backward && !all_at_once && state->group()) state->group()->finalize_backward();
    }
    if (!is_last_backward) return;
    if (all_at_once) for_each_group([](FsdpGroup& group) { group.finalize_backward(); });
    context_.communication.post_forward_order.clear();
    context_.communication.reduce_scatter_input.reset();
  }

  std::unique_ptr<FsdpState> fully_shard(const FsdpUnit& unit, const std::vector<Module*>& apart) {
    Managed managed;
    for (Module* module : unit.modules) collect_managed(*module, apart, managed);
    move_to_device(run_, managed.parameters);
    move_to_device(run_, managed.buffers);
    std::unique_ptr<FsdpGroup> group;
    if (!managed.parameters.empty())
      group = std::make_unique<FsdpGroup>(run_, context_.communication, managed.parameters, options_,
                                          unit.reshard_after_forward);
    return std::make_unique<FsdpState>(run_, context_, unit.modules, std::move(group), options_.param_dtype);
  }

  Run& run_;
  const Fsdp2Options options_;
  StateContext context_;
};

/// _NormPartial._reduce_value, as the norms of shards, stacked, are made those of gradients: raised to a power,
/// all-reduced in a copy, and back.  torch/distributed/tensor/_ops/_math_ops.py
Tensor reduce_norms(Tensor norms) {
  const Tensor powers = fresh("aten::pow", norms);
  const Tensor sums = fresh("_c10d_functional::all_reduce", powers);
  return fresh("aten::pow", sums);
}

}  // namespace

StepHooks fsdp2(Run& run, Module& root, const Fsdp2Options& options) {
  const auto model = std::make_shared<FullySharded>(run, root, options);
  StepHooks hooks;
  hooks.optimizer_parameters = trainable_parameters(root);
  hooks.replace_inputs = [model](Batch& inputs) { model->before_forward(inputs); };
  hooks.after_forward = [model](ModelOutputs& outputs) { model->after_forward(outputs); };
  hooks.backward = [model](const Tensor& loss, bool is_last) { model->backward(loss, is_last); };
  hooks.around_backward = [model](const std::function<void()>& pass, bool measures) {
    model->around_backward(pass, measures);
  };
  hooks.reduce_gradients = [model] { model->reduce_gradients(); };
  hooks.unshard = [model] { model->unshard(); };
  hooks.wait_for_unshard = [model] { model->wait_for_unshard(); };
  hooks.reshard = [model] { model->reshard(); };
  if (options.ranks > 1) hooks.reduce_norms = reduce_norms;
  hooks.has_gradients_on_host = options.offload_to_cpu;
  if (options.offload_to_cpu)
    hooks.step = [&run](Optimizer& optimizer) {
      const Setting<bool> on_host(run.on_host, true);
      optimizer.step(optimizer);
    };
  return hooks;
}

}  // namespace tidemark
