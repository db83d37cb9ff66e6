#include "parallel/ddp.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <unordered_map>

#include "base/error.h"
#include "parallel/buckets.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kFirstBucketBytes = kMiB;      // torch: kDefaultFirstBucketBytes, reducer.hpp
constexpr std::int64_t kBroadcastBytes = 250 * kMiB;  // torch: DistributedDataParallel.broadcast_bucket_size
constexpr double kDefaultCapMb = 25;

/// The gradient hooks, and the buckets that they fill.
class Reducer {
 public:
  Reducer(Run& run, std::vector<Tensor> parameters, const DdpOptions& options)
      : run_(run), parameters_(std::move(parameters)), options_(options) {
    for (std::size_t i = 0; i < parameters_.size(); ++i) indices_.emplace(&parameters_[i].impl(), i);
    // Before the order of gradients is known there is one bucket for each type; where it never will be, the last ones.
    const std::vector<std::int64_t> limits =
        rebuilds() ? std::vector{std::numeric_limits<std::int64_t>::max()} : limits_bytes();
    std::vector<Bucket> buckets = buckets_by_size(parameters_, limits, BucketOrder::by_first_index);
    std::reverse(buckets.begin(), buckets.end());
    make_buckets(buckets);
    if (options_.find_unused_parameters) initialize_local_used_map();
    if (options_.static_graph) initialize_local_used_map();  // set_static_graph does it again
  }

  /// Reducer::autograd_hook, of the parameter whose gradient is there.
  void gradient_is_ready(const Tensor& parameter) {
    const auto found = indices_.find(&parameter.impl());
    if (found == indices_.end() || !expects_) return;  // the input of a checkpointed block; no_sync
    came_ = true;
    const std::size_t index = found->second;
    if (is_first_of_static()) return;
    if (rebuilds() && !rebuilt_) ready_.push_back(index);
    if (options_.gradient_as_bucket_view) view_in_bucket(index);
  }

  /// Within model.no_sync() gradients stay where they are.  torch: require_backward_grad_sync.  But a forward pass
  /// without it has the next gradients that come expected, whichever they are: Reducer::expect_autograd_hooks_
  void pass_begins(bool syncs) {
    syncs_ = syncs;
    if (std::exchange(came_, false)) expects_ = false;
    if (syncs) expects_ = true;
  }
  /// Buffers are sent again after a pass that sent gradients.  torch: require_forward_param_sync
  bool takes_buffers() { return std::exchange(sent_last_, syncs_); }

  /// Reducer::delay_all_reduce, which a static graph's first pass leaves everything to.
  void backward_is_over() {
    if (is_first_of_static() && options_.gradient_as_bucket_view)
      for (std::size_t i = 0; i < parameters_.size(); ++i)
        if (parameters_[i].grad()) view_in_bucket(i);
    if (options_.static_graph && passed_ && !rebuilt_) add_unused();
    passed_ = true;
  }

  /// Whether the next step will send what this one sent.
  bool is_settled() const { return passed_ && (rebuilt_ || !rebuilds()); }

  /// Whether outputs go through a _DDPSink (torch/nn/parallel/distributed.py): for ever where unused parameters are
  /// looked for, in a static graph until it has been in a backward pass.
  bool sinks_outputs() const { return options_.static_graph ? !passed_ : options_.find_unused_parameters; }

  /// Reducer::rebuild_buckets, in the forward after the first backward: the old buckets go first.
  void rebuild() {
    if (rebuilt_ || ready_.empty()) return;
    if (ready_.size() > parameters_.size()) refuse_twice();
    if (ready_.size() != parameters_.size() && !options_.static_graph) refuse_unused();
    rebuilt_ = true;
    std::vector<Tensor> in_order;
    for (const std::size_t index : ready_) in_order.push_back(parameters_[index]);
    std::vector<Bucket> buckets = buckets_by_size(in_order, limits_bytes(), BucketOrder::as_they_come);
    for (Bucket& bucket : buckets)
      for (std::size_t& index : bucket) index = ready_[index];
    sync_indices(buckets.size());
    make_buckets(buckets);
  }

 private:
  /// What Reducer::ensure_prior_reduction_finished raises a RuntimeError for.
  [[noreturn]] void refuse_unused() const {
    throw Error(
        Errc::bad_value,
        fmt::format("{} of {} trained parameters get no gradient, which DistributedDataParallel takes for an error",
                    parameters_.size() - ready_.size(), parameters_.size()),
        "ddp.find_unused_parameters", "set it, or freeze what is not used");
  }

  /// What Reducer::rebuild_buckets has an internal assertion for.
  [[noreturn]] static void refuse_twice() {
    throw Error(Errc::unsupported,
                "since torch 2.12 the first and the last backward pass of a stage reduce its gradients, and an "
                "assertion of DistributedDataParallel fails in the second step where no forward pass comes between",
                "pp", "set schedule to 1f1b and microbatches to more than there are stages");
  }

  /// Reducer::mark_variable_ready, of the last bucket: what is unused in a static graph comes last.
  void add_unused() {
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      if (std::find(ready_.begin(), ready_.end(), i) == ready_.end()) ready_.push_back(i);
  }

  void initialize_local_used_map() {
    local_used_map_ = empty_of("aten::empty", static_cast<std::int64_t>(parameters_.size()), Dtype::int32);
  }

  bool rebuilds() const { return options_.static_graph || !options_.find_unused_parameters; }
  bool is_first_of_static() const { return options_.static_graph && !passed_; }

  std::vector<std::int64_t> limits_bytes() const {
    const auto cap = static_cast<std::int64_t>(options_.bucket_cap_mb * static_cast<double>(kMiB));
    return {options_.bucket_cap_mb == kDefaultCapMb ? kFirstBucketBytes : cap, cap};
  }

  Tensor empty_of(const char* op_name, std::int64_t elements, Dtype dtype) {
    const Op op(run_, op_name);
    return empty(run_, Dims{elements}, dtype);
  }

  /// Reducer::initialize_buckets
  void make_buckets(const std::vector<Bucket>& buckets) {
    const Setting<Category> category(run_.category, Category::communication);
    buckets_.clear();
    views_.assign(parameters_.size(), {});
    for (const Bucket& bucket : buckets) {
      std::int64_t elements = 0;
      for (const std::size_t index : bucket) elements += parameters_[index].elements();
      buckets_.push_back(empty_of("aten::empty", elements, parameters_[bucket.front()].dtype()));
      for (const std::size_t index : bucket) {
        views_[index] = view_of(buckets_.back(), parameters_[index].layout());
        if (options_.gradient_as_bucket_view && parameters_[index].grad()) view_in_bucket(index);
      }
    }
  }

  /// Reducer::sync_bucket_indices: rank 0's order for all; both tensors live until it is over.
  void sync_indices(std::size_t count) {
    const Setting<Category> category(run_.category, Category::communication);
    const Tensor indices = empty_of("aten::empty", static_cast<std::int64_t>(parameters_.size()) + 1, Dtype::int32);
    const Tensor sizes = empty_of("aten::empty", static_cast<std::int64_t>(count), Dtype::int32);
  }

  /// Reducer::mark_variable_ready_dense, with gradient_as_bucket_view: the gradient itself goes.
  void view_in_bucket(std::size_t index) { parameters_[index].grad() = alias(views_[index]); }

  Run& run_;
  const std::vector<Tensor> parameters_;
  const DdpOptions options_;
  std::unordered_map<const TensorImpl*, std::size_t> indices_;
  std::vector<Tensor> buckets_, views_;  // a view by parameter
  std::vector<std::size_t> ready_;       // parameters in the order of their gradients
  bool rebuilt_ = false;
  bool passed_ = false;  // backward, once at least
  bool syncs_ = true, sent_last_ = true, expects_ = false, came_ = false;
  Tensor local_used_map_;
};

/// _DDPSink: every tensor of the outputs is cloned, and those that have a graph take the place of the originals.
void sink(ModelOutputs& outputs) {
  Run& run = outputs.loss.run();
  Tensors inputs, clones;
  std::vector<Tensor*> places{&outputs.loss};
  for (Tensor& tensor : outputs.held) places.push_back(&tensor);
  {
    const NoGrad no_grad(run);
    for (const Tensor* place : places) {
      inputs.push_back(*place);
      clones.push_back(clone(*place));
    }
  }
  record(clones, std::move(inputs), {.name = "_DDPSinkBackward", .backward = gradients_as_they_come});
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i]->impl().grad_fn) *places[i] = clones[i];
}

void collect_buffers(Module& module, std::vector<Tensor>& buffers) {
  for (const std::shared_ptr<Parameter>& own : module.parameters())
    if (own->is_buffer) buffers.push_back(own->tensor);
  for (const std::unique_ptr<Module>& child : module.children()) collect_buffers(*child, buffers);
}

/// torch: verify_params_across_processes, reducer.cpp
void verify_parameters(Run& run, const std::vector<Tensor>& parameters, std::int64_t ranks) {
  const auto numbers = [&](const char* name, std::int64_t count) {
    const Op op(run, name);
    return empty(run, Dims{count}, Dtype::int64);
  };
  const Tensor count = numbers("aten::to", 1);
  std::vector<Tensor> counts;
  for (std::int64_t rank = 0; rank < ranks; ++rank) counts.push_back(numbers("aten::empty_like", 1));
  if (!run.torch().gathers_into_lists) numbers("c10d::allgather_", ranks).reset();
  std::int64_t sizes_and_strides = 0;
  for (const Tensor& parameter : parameters) sizes_and_strides += 2 * parameter.dims();
  numbers("aten::to", sizes_and_strides).reset();
}

}  // namespace

StepHooks ddp(Run& run, Module& root, const DdpOptions& options) {
  const std::vector<Tensor> trainable = trainable_parameters(root);
  std::vector<Tensor> states, buffers;
  visit_parameters(root, [&](const Module&, Parameter& parameter) { states.push_back(parameter.tensor); });
  if (options.broadcast_buffers) collect_buffers(root, buffers);
  states.insert(states.end(), buffers.begin(), buffers.end());
  std::shared_ptr<Reducer> reducer;
  {
    const Setting<Category> category(run.category, Category::communication);
    verify_parameters(run, trainable, options.ranks);
    broadcast_coalesced(run, states, kBroadcastBytes);
    reducer = std::make_shared<Reducer>(run, trainable, options);
  }
  run.prefix_modules(root.number(), "module");
  const std::uint32_t wrapper = run.name_module("DistributedDataParallel");
  StepHooks hooks;
  hooks.gradient_is_ready = [reducer](const Tensor& parameter) { reducer->gradient_is_ready(parameter); };
  hooks.before_forward = [&run, buffers, reducer, wrapper] {
    const Setting<std::uint32_t> module(run.module, wrapper);
    reducer->rebuild();
    const Setting<Category> category(run.category, Category::communication);
    if (reducer->takes_buffers()) broadcast_coalesced(run, buffers, kBroadcastBytes);
  };
  hooks.pass_begins = [reducer, no_sync = options.no_sync](bool is_last) { reducer->pass_begins(is_last || !no_sync); };
  hooks.after_forward = [&run, reducer, wrapper](ModelOutputs& outputs) {
    const Setting<std::uint32_t> module(run.module, wrapper);
    if (reducer->sinks_outputs()) sink(outputs);
  };
  hooks.after_backward = [reducer] { reducer->backward_is_over(); };
  hooks.is_settled = [reducer] { return reducer->is_settled(); };
  return hooks;
}

}  // namespace tidemark
