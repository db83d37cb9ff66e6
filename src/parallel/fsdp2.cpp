#include "parallel/fsdp2.h"

#include <algorithm>
#include <memory>

#include "parallel/fsdp2_group.h"
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

/// The hooks of one module that fully_shard was called on.  torch: _fsdp_state.py, FSDPState
class FsdpState {
 public:
  FsdpState(Run& run, StateContext& context, std::unique_ptr<FsdpGroup> group, std::optional<Dtype> param_dtype)
      : run_(run), context_(context), group_(std::move(group)), param_dtype_(param_dtype) {
    if (param_dtype) hooks_.replace_argument = [this](Module&, Tensor& argument) { cast_forward_input(argument); };
    hooks_.before_forward = [this](Module&, Tensor& input) { pre_forward(input); };
    hooks_.after_forward = [this](Module&, Tensor& output) { post_forward(output); };
  }
  FsdpState(const FsdpState&) = delete;
  FsdpState& operator=(const FsdpState&) = delete;

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

  void post_forward(const Tensor& output) {
    if (state_ == State::pre_backward) return;
    const InHook hook(run_);
    if (group_) group_->post_forward();
    if (needs_grad(output)) tell_of_gradient(output, pre_backward_);
    state_ = State::idle;
    if (context_.iter_forward_root != this) return;
    context_.communication.all_gather_state.reset();
    context_.iter_forward_root = nullptr;
  }

  /// Its part of _root_post_backward_final_callback
  void end_backward() {
    state_ = State::idle;
    if (!group_) return;
    if (group_->state != State::post_backward) group_->post_backward();
    group_->state = State::idle;
  }

 private:
  /// When a checkpointed block runs again.
  void unshard_again() {
    if (!group_ || group_->is_unsharded()) return;
    group_->unshard();
    group_->wait_for_unshard();
  }

  void pre_backward() {
    state_ = State::pre_backward;
    context_.post_backward_final_callback_queued = true;
    if (group_) group_->pre_backward();
  }

  Run& run_;
  StateContext& context_;
  const std::unique_ptr<FsdpGroup> group_;
  const std::optional<Dtype> param_dtype_;
  State state_ = State::idle;
  ModuleHooks hooks_;
  const std::function<void()> pre_backward_ = [this] { pre_backward(); };
  const std::function<void()> post_backward_ = [this] { group_->post_backward(); };
};

/// What one call takes: _get_managed_modules and _get_managed_states.
struct Managed {
  std::vector<ManagedParameter> parameters, buffers;
};

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
    const std::vector<Module*> layers = layers_of(root);
    const std::int64_t reshard = options.reshard_after_forward.value_or(options.ranks);
    for (Module* layer : layers) {
      context_.states.push_back(fully_shard(*layer, {}, reshard));
      layer->hooks = context_.states.back()->hooks();
    }
    // Where nothing is said, what forwards first turns out to be the root: FSDPState._lazy_init
    const std::int64_t root_reshard = options.reshard_after_forward.value_or(0);
    context_.states.insert(context_.states.begin(), fully_shard(root, layers, root_reshard));
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
  void after_forward(const ModelOutputs& outputs) {
    root().post_forward(outputs.loss ? outputs.loss : outputs.held.front());
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
      state->end_backward();
      if (is_last_backward && !all_at_once && state->group()) state->group()->finalize_backward();
    }
    if (!is_last_backward) return;
    if (all_at_once) for_each_group([](FsdpGroup& group) { group.finalize_backward(); });
    context_.communication.post_forward_order.clear();
    context_.communication.reduce_scatter_input.reset();
  }

  std::unique_ptr<FsdpState> fully_shard(Module& module, const std::vector<Module*>& apart, std::int64_t reshard) {
    Managed managed;
    collect_managed(module, apart, managed);
    move_to_device(run_, managed.parameters);
    move_to_device(run_, managed.buffers);
    std::unique_ptr<FsdpGroup> group;
    if (!managed.parameters.empty())
      group = std::make_unique<FsdpGroup>(run_, context_.communication, managed.parameters, options_, reshard);
    return std::make_unique<FsdpState>(run_, context_, std::move(group), options_.param_dtype);
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
  if (options.offload_to_cpu)
    hooks.step = [&run](Optimizer& optimizer) {
      const Setting<bool> on_host(run.on_host, true);
      optimizer.step(optimizer);
    };
  return hooks;
}

}  // namespace tidemark
