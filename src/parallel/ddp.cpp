#include "parallel/ddp.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <unordered_map>

#include "parallel/buckets.h"

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
    // Before the order of gradients is known there is one bucket for each type.
    std::vector<Bucket> buckets =
        buckets_by_size(parameters_, {std::numeric_limits<std::int64_t>::max()}, BucketOrder::by_first_index);
    std::reverse(buckets.begin(), buckets.end());
    make_buckets(buckets);
  }

  /// Reducer::autograd_hook, of the parameter whose gradient is there.
  void gradient_is_ready(const Tensor& parameter) {
    const auto found = indices_.find(&parameter.impl());
    if (found == indices_.end()) return;  // the input of a checkpointed block
    const std::size_t index = found->second;
    if (ready_.size() < parameters_.size()) ready_.push_back(index);
    if (options_.gradient_as_bucket_view) view_in_bucket(index);
  }

  /// Reducer::rebuild_buckets, in the forward after the first backward: the old buckets go first.
  void rebuild() {
    if (rebuilt_ || ready_.size() != parameters_.size()) return;
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
};

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
  numbers("c10d::allgather_", ranks).reset();
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
    broadcast_coalesced(run, buffers, kBroadcastBytes);
  };
  return hooks;
}

}  // namespace tidemark
