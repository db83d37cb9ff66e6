#include "parallel/fsdp1.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>

#include "parallel/fsdp1_handle.h"
#include "parallel/wrapping.h"
#include "tensor/arithmetic.h"
#include "tensor/engine.h"
#include "train/clip.h"

namespace tidemark {
namespace {

/// What the units of a model share.
struct Order {
  std::vector<FlatHandle*> handles;  // of all, the root's first
  std::vector<FlatHandle*> post_forward;
  std::vector<std::pair<const TensorImpl*, const std::function<void()>*>> leaves;  // who is told of their gradients

  /// Tensor.register_hook
  void tell_of_gradient(const Tensor& tensor, const std::function<void()>& told) {
    if (tensor.impl().grad_fn)
      tidemark::tell_of_gradient(tensor, told);
    else
      leaves.emplace_back(&tensor.impl(), &told);
  }

  void gradient_is_ready(const Tensor& leaf) {
    for (const auto& [tensor, told] : leaves)
      if (tensor == &leaf.impl()) (*told)();
  }

  void drop_unused_gradients() {
    for (FlatHandle* handle : handles) handle->drop_gradient_if_unused();
  }
};

/// One FullyShardedDataParallel.  torch 2.11.0: torch/distributed/fsdp/_runtime_utils.py
class Unit {
 public:
  Unit(Run& run, Order& order, const std::vector<Parameter*>& parameters, const Fsdp1Options& options, bool is_root)
      : run_(run),
        order_(order),
        handle_(run, parameters, options),
        frees_after_forward_(!is_root && options.reshard_after_forward) {
    hooks_.sees_keywords = true;
    hooks_.before_forward = [this](Module&, Tensor& input) { pre_forward(input); };
    hooks_.after_forward = [this](Module&, Tensor& output) { post_forward(output); };
    keeps_views_ = !options.reshard_after_forward;
  }
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  const ModuleHooks* hooks() const { return &hooks_; }
  FlatHandle& handle() { return handle_; }

  /// A block that is checkpointed within its wrapper runs again without it.
  void pre_forward(const Tensor& input) {
    if (run_.in_backward) return;
    const InHook hook(run_);
    if (!handle_.prefetched) handle_.unshard();
    handle_.await_unshard();
    handle_.use_new_views();
    if (!handle_.trains() && needs_grad(input)) order_.tell_of_gradient(input, reshard_);
  }

  void post_forward(const Tensor& output) {
    if (run_.in_backward) return;
    const InHook hook(run_);
    if (!handle_.post_forward_index) {
      handle_.post_forward_index = order_.post_forward.size();
      order_.post_forward.push_back(&handle_);
    }
    if (!keeps_views_) handle_.use_sharded_views();
    if (frees_after_forward_) handle_.free_unsharded();
    handle_.prefetched = handle_.ran_pre_backward_hook = false;
    handle_.needs_pre_backward_unshard = needs_grad(output);
    if (needs_grad(output)) tell_of_gradient(output, pre_backward_);
  }

  void post_backward() {
    reshard();
    handle_.reduce_gradient();
  }

  /// Its part of _post_backward_final_callback; what was gathered ahead and not used goes.
  void end_backward() {
    if (handle_.is_unsharded()) reshard();
    handle_.finish_gradient();
    handle_.needs_pre_backward_unshard = handle_.prefetched = handle_.ran_pre_backward_hook = false;
    handle_.post_forward_index.reset();
  }

 private:
  /// _post_backward_reshard, after which only those that train reduce anything.
  void reshard() {
    handle_.use_sharded_views();
    handle_.free_unsharded();
    handle_.prefetched = false;
  }

  /// _pre_backward_hook, with BackwardPrefetch.BACKWARD_PRE
  void pre_backward() {
    if (handle_.ran_pre_backward_hook) return;
    if (order_.handles.front() == &handle_) order_.drop_unused_gradients();
    if (handle_.needs_pre_backward_unshard) {
      if (!handle_.prefetched) handle_.unshard();
      handle_.await_unshard();
      handle_.use_saved_views();
    }
    handle_.needs_pre_backward_unshard = false;
    prefetch();
    handle_.prepare_gradient();
    handle_.ran_pre_backward_hook = true;
  }

  void prefetch() {
    if (!handle_.post_forward_index || *handle_.post_forward_index == 0) return;
    FlatHandle& target = *order_.post_forward[*handle_.post_forward_index - 1];
    if (!target.needs_pre_backward_unshard || target.prefetched) return;
    target.unshard();
    target.prefetched = true;
  }

  Run& run_;
  Order& order_;
  FlatHandle handle_;
  const bool frees_after_forward_;
  bool keeps_views_ = false;
  ModuleHooks hooks_;
  const std::function<void()> pre_backward_ = [this] { pre_backward(); };
  const std::function<void()> reshard_ = [this] { reshard(); };
};

/// Own parameters first, then children, but for those that are wrapped by themselves: the order of named_modules.
void collect_parameters(Module& module, const std::vector<Module*>& apart, std::vector<Parameter*>& found) {
  for (const std::shared_ptr<Parameter>& own : module.parameters())
    if (!own->is_buffer && std::ranges::find(found, own.get()) == found.end()) found.push_back(own.get());
  for (const std::unique_ptr<Module>& child : module.children())
    if (std::ranges::find(apart, child.get()) == apart.end()) collect_parameters(*child, apart, found);
}

/// _init_utils.py, _move_module_to_device: breadth first, buffers last.
void move_module(Run& run, Module& module, const std::vector<Module*>& apart) {
  std::vector<ManagedParameter> parameters, buffers;
  std::deque<Module*> queue{&module};
  while (!queue.empty()) {
    Module& next = *queue.front();
    queue.pop_front();
    for (const std::shared_ptr<Parameter>& own : next.parameters())
      (own->is_buffer ? buffers : parameters).push_back({&next, own.get()});
    for (const std::unique_ptr<Module>& child : next.children())
      if (std::ranges::find(apart, child.get()) == apart.end()) queue.push_back(child.get());
  }
  move_to_device(run, parameters);
  move_to_device(run, buffers);
}

/// A model after FullyShardedDataParallel.
class FlatSharded {
 public:
  FlatSharded(Run& run, Module& root, const Fsdp1Options& options) : run_(run), options_(options) {
    const std::vector<Module*> layers = layers_of(root, options.layer_classes);
    for (Module* layer : layers) {
      wrap(*layer, {}, false);
      layer->hooks = units_.back()->hooks();
    }
    wrap(root, layers, true);
    std::rotate(units_.begin(), units_.end() - 1, units_.end());
    for (const std::unique_ptr<Unit>& unit : units_) order_.handles.push_back(&unit->handle());
    if (options.param_dtype) set_dtype(root, *options.param_dtype);
  }

  void before_forward(Batch& inputs) {
    if (!std::exchange(is_initialized_, true))
      for (const std::unique_ptr<Unit>& unit : units_) unit->handle().init_attributes();
    order_.drop_unused_gradients();
    if (options_.param_dtype && inputs.pixel_values)
      inputs.pixel_values = to(std::move(inputs.pixel_values), *options_.param_dtype);
    FlatHandle::begin_forward(run_);
    units_.front()->pre_forward({});
  }
  void after_forward(const ModelOutputs& outputs) { units_.front()->post_forward(outputs.loss); }

  void gradient_is_ready(const Tensor& leaf) {
    const auto found = by_leaf_.find(&leaf.impl());
    if (found != by_leaf_.end()) found->second->post_backward();
    order_.gradient_is_ready(leaf);
  }

  void backward(const Tensor& loss) {
    const Tensor ones = fresh("aten::ones_like", loss);
    tidemark::backward(loss, ones);
    FlatHandle::await_reductions(run_, options_);
    for (const std::unique_ptr<Unit>& unit : units_) unit->end_backward();
    order_.post_forward.clear();
    order_.leaves.clear();
  }

  /// FullyShardedDataParallel.clip_grad_norm_: gradient by gradient, in float32.
  void clip_grad_norm() {
    const Setting<Category> category(run_.category, Category::other);
    TensorList gradients;
    for (const FlatHandle* handle : order_.handles)
      for (const Tensor& gradient : handle->gradients()) gradients.push_back(gradient);
    const Tensor local = local_norm(gradients);
    Tensor total_norm = fresh("aten::pow", local);
    total_norm = fresh("aten::pow", total_norm);
    const Tensor clip_coef = clip_coefficient(total_norm);
    const Tensor clamped = fresh("aten::clamp", clip_coef);
    for (const Tensor& gradient : gradients) to(clamped, gradient.dtype());
    if (!gradients.empty()) to(total_norm, gradients.front().dtype());
  }

 private:
  /// _get_grad_norm; zero is made once.
  Tensor local_norm(const TensorList& gradients) {
    if (!zero_) {
      zero_ = empty(run_, Dims{}, Dtype::f32);
      run_.stream_calls.host_waits();  // it comes from there
    }
    if (gradients.empty()) return zero_;
    const Op op(run_, "aten::linalg_vector_norm");
    TensorList norms;
    for (const Tensor& gradient : gradients) norms.push_back(plain_sum(gradient, Dims{1}, false, Dtype::f32));
    const Tensor stacked = empty(run_, {static_cast<std::int64_t>(norms.size())}, Dtype::f32);
    norms.clear();
    return plain_sum(stacked, Dims{1}, false, Dtype::f32);
  }

  void wrap(Module& module, const std::vector<Module*>& apart, bool is_root) {
    move_module(run_, module, apart);
    std::vector<Parameter*> parameters;
    collect_parameters(module, apart, parameters);
    units_.push_back(std::make_unique<Unit>(run_, order_, parameters, options_, is_root));
    by_leaf_.emplace(&units_.back()->handle().flat_parameter().impl(), units_.back().get());
  }

  Run& run_;
  const Fsdp1Options options_;
  Order order_;
  std::vector<std::unique_ptr<Unit>> units_;  // the root's first
  std::unordered_map<const TensorImpl*, Unit*> by_leaf_;
  bool is_initialized_ = false;
  Tensor zero_;
};

}  // namespace

StepHooks fsdp1(Run& run, Module& root, const Fsdp1Options& options) {
  const auto model = std::make_shared<FlatSharded>(run, root, options);
  StepHooks hooks;
  hooks.optimizer_parameters = trainable_parameters(root);
  hooks.replace_inputs = [model](Batch& inputs) { model->before_forward(inputs); };
  hooks.after_forward = [model](ModelOutputs& outputs) { model->after_forward(outputs); };
  hooks.gradient_is_ready = [model](const Tensor& leaf) { model->gradient_is_ready(leaf); };
  hooks.backward = [model](const Tensor& loss, bool) { model->backward(loss); };
  hooks.clip_grad_norm = [model] { model->clip_grad_norm(); };
  return hooks;
}

}  // namespace tidemark
