#include "parallel/zero_optimizer.h"

#include <algorithm>

#include "parallel/gradient_norm.h"
#include "tensor/engine.h"

namespace tidemark {
namespace {

constexpr StreamId kReductionStream = 1;
constexpr std::int64_t kStartAlignment = 2;  // nccl_start_alignment_factor

std::vector<std::int64_t> sizes_of(const TensorList& tensors) {
  std::vector<std::int64_t> sizes;
  for (const Tensor& tensor : tensors) sizes.push_back(tensor.elements());
  return sizes;
}

Tensor piece(const Tensor& flat, std::int64_t elements) { return view_of(flat, {Dims{elements}, Dims{1}}); }

}  // namespace

ZeroOptimizer::ZeroOptimizer(Run& run, const std::vector<TensorList>& groups, const ZeroOptions& options)
    : run_(run), options_(options) {
  for (const TensorList& parameters : groups) add_group(parameters);
}

void ZeroOptimizer::add_group(const TensorList& parameters) {
  const std::size_t first = parameters_.size();
  groups_.push_back({.first = first, .partition = partition(sizes_of(parameters), options_.ranks, kStartAlignment)});
  for (const Tensor& parameter : parameters) {
    const std::size_t index = parameters_.size();
    indices_.emplace(&parameter.impl(), index);
    parameters_.push_back(parameter);
    group_of_.push_back(groups_.size() - 1);
    if (is_mine(index)) groups_.back().mine.push_back(index);
  }
  flatten_parameters(groups_.back());
  make_master(groups_.back());
}

/// process_gradients, of the parameter whose gradient is there.
void ZeroOptimizer::gradient_is_ready(const Tensor& leaf) {
  const auto known = indices_.find(&leaf.impl());
  if (known == indices_.end()) return;  // an activation that was told to require a gradient
  setup_bucket();
  if (options_.stage == 2 || (options_.overlap_comm && is_last_)) add_to_bucket(known->second);
}

/// DeepSpeedEngine.backward
void ZeroOptimizer::backward(const Tensor& loss, bool is_last) {
  is_last_ = is_last;
  const Tensor divided = options_.scale_wrt_gas ? div_scalar(loss) : loss, scaled = mul_scalar(divided);
  tidemark::backward(scaled);
  const NoGrad no_grad(run_);
  if (options_.stage == 2 || is_last) finish_gradients();
}

void ZeroOptimizer::step(Optimizer& optimizer) {
  const Setting<Category> category(run_.category, Category::workspace);
  check_overflow(run_, averaged());
  Tensor norm = combine_grad_norm_groups(norms());
  check_grad_norm(norm);
  Tensor previous = global_grad_norm_;  // the engine's, until the step is done
  global_grad_norm_ = fresh("aten::div", norm);
  for (Group& group : groups_) {
    set_master_gradient(group);
    if (options_.gradient_clipping > 0) {
      check_grad_norm(norm);
      unscale_and_clip(norm);
    }
    optimizer.step(optimizer);
    group.master.grad().reset();
  }
  run_.repetition.let_go(std::move(previous), global_grad_norm_);
}

/// Of all groups.
TensorList ZeroOptimizer::averaged() const {
  TensorList all;
  for (const Group& group : groups_) all.insert(all.end(), group.averaged.begin(), group.averaged.end());
  return all;
}

/// Each group's, before they are combined.
TensorList ZeroOptimizer::norms() const {
  TensorList norms;
  for (const Group& group : groups_) norms.push_back(grad_norm_direct(run_, group.averaged, group.mine.size()));
  return norms;
}

/// _flatten_dense_tensors: a view of a single one.
Tensor ZeroOptimizer::flatten(const TensorList& tensors, std::int64_t elements) {
  if (tensors.size() == 1) return tensors.front();
  const Op op(run_, "aten::flatten_dense_tensors");
  return empty(run_, Dims{elements}, tensors.front().dtype());
}

/// flatten_dense_tensors_aligned, then _update_model_bit16_weights: parameters are views of the whole from now on.
void ZeroOptimizer::flatten_parameters(const Group& group) {
  const Setting<Category> category(run_.category, Category::parameters);
  const TensorList parameters(parameters_.begin() + static_cast<std::ptrdiff_t>(group.first), parameters_.end());
  run_.empty_cache();
  const Tensor flat = fits_twice(group.partition) ? flattened_here(parameters, group.partition)
                                                  : flattened_on_host(parameters, group.partition);
  for (const Tensor& parameter : parameters) {
    parameter.impl().storage = flat.impl().storage;
    parameter.impl().layout.strides = contiguous_strides(parameter.sizes());
  }
}

/// CUDA_Accelerator.available_memory without pynvml: what no tensor holds.
bool ZeroOptimizer::fits_twice(const Partition& partition) {
  const std::int64_t available = run_.card().total_bytes - run_.allocator().totals().allocated_bytes;
  return available >= partition.elements * size_of(Dtype::bf16);
}

Tensor ZeroOptimizer::flattened_here(const TensorList& parameters, const Partition& partition) {
  std::int64_t elements = 0;
  for (const Tensor& parameter : parameters) elements += parameter.elements();
  TensorList all = parameters;
  if (elements < partition.elements) all.push_back(zeros(run_, Dims{partition.elements - elements}, Dtype::bf16));
  return flatten(all, partition.elements);
}

/// Each parameter leaves a tensor of one element behind until it is back.
Tensor ZeroOptimizer::flattened_on_host(const TensorList& parameters, const Partition& partition) {
  const Op op(run_, "aten::to");
  for (const Tensor& parameter : parameters) parameter.impl().storage = empty(run_, Dims{1}, Dtype::f32).impl().storage;
  run_.empty_cache();
  return empty(run_, Dims{partition.elements}, Dtype::bf16);
}

/// This rank's part in fp32: with offload_optimizer on the host.
void ZeroOptimizer::make_master(Group& group) {
  const bool on_host = options_.offload_optimizer;
  const Setting<Category> category(run_.category, on_host ? Category::other : Category::optimizer_state);
  const Tensor copy = allocated("aten::clone", group, Dtype::bf16);
  if (!on_host) group.master = allocated("aten::to", group, Dtype::f32);
}

/// initialize_optimizer_states: gradients for the optimizer to be initialized with.
TensorList ZeroOptimizer::make_states() {
  const Setting<Category> category(run_.category, Category::optimizer_state);
  TensorList masters, gradients;
  for (const Group& group : groups_) {
    masters.push_back(group.master);
    gradients.push_back(allocated("aten::zeros", group, Dtype::f32));
  }
  for (Tensor& gradient : gradients) gradient.reset();
  return masters;
}

Tensor ZeroOptimizer::allocated(const char* name, const Group& group, Dtype dtype) {
  const Op op(run_, name);
  return empty(run_, Dims{group.partition.part_elements}, dtype);
}

/// setup_buckets
void ZeroOptimizer::setup_bucket() {
  if (ready_for_gradients_) return;
  ready_for_gradients_ = true;
  const Setting<Category> category(run_.category, Category::communication);
  bucket_.buffers.clear();
  if (!options_.contiguous_gradients) return;
  for (int i = 0; i < (options_.overlap_comm ? 2 : 1); ++i)
    bucket_.buffers.push_back(empty(run_, Dims{options_.reduce_bucket_size}, Dtype::bf16));
  bucket_.current = 0;
}

/// reduce_independent_p_g_buckets_and_remove_grads
void ZeroOptimizer::add_to_bucket(std::size_t index) {
  const Tensor& parameter = parameters_[index];
  if (bucket_.elements + parameter.elements() > options_.reduce_bucket_size) {
    reduce_bucket();
    if (options_.overlap_comm) bucket_.current = 1 - bucket_.current;
  }
  if (parameter.elements() > options_.reduce_bucket_size)
    take_large_gradient(parameter);
  else if (options_.contiguous_gradients)
    parameter.grad() = view_of(bucket_.buffers[bucket_.current], parameter.layout());
  bucket_.elements += parameter.elements();
  bucket_.parameters.push_back(index);
}

/// reduce_ipg_grads.  What is told of the stream by record_stream has ended before any of it is freed: the epilogue
/// waits for the device.
void ZeroOptimizer::reduce_bucket() {
  const Setting<StreamId> stream(run_.stream, options_.overlap_comm ? kReductionStream : 0);
  average_bucket();
  for (const std::size_t index : bucket_.parameters) {
    if (is_mine(index)) {
      if (options_.contiguous_gradients) keep_gradient(index);
    } else if (options_.stage == 2) {
      parameters_[index].grad().reset();
    }
  }
  bucket_.parameters.clear();
  bucket_.elements = 0;
}

/// What of the bucket goes to which rank; neighbours that go to the same are one.
std::vector<ZeroOptimizer::Slice> ZeroOptimizer::slices() const {
  std::vector<Slice> slices;
  for (const std::size_t index : bucket_.parameters) {
    const Group& group = group_of(index);
    const std::size_t own = index - group.first;
    for (std::int64_t rank = group.partition.first_rank(own); rank <= group.partition.last_rank(own); ++rank) {
      const std::int64_t elements = group.partition.share(own, rank);
      if (!slices.empty() && slices.back().rank == rank)
        slices.back().elements += elements;
      else
        slices.push_back({rank, elements});
    }
  }
  return slices;
}

/// average_tensor
void ZeroOptimizer::average_bucket() {
  if (!options_.contiguous_gradients) return send_whole();
  if (!options_.reduce_scatter) return;  // one all_reduce, in place
  std::vector<Slice> left = slices();
  if (options_.use_multi_rank_bucket_allreduce) return send(left);
  while (!left.empty()) {
    const auto others = std::stable_partition(left.begin(), left.end(),
                                              [rank = left.front().rank](const Slice& s) { return s.rank == rank; });
    send({left.begin(), others});
    left.erase(left.begin(), others);
  }
}

/// buffered_reduce_fallback: all gradients of the bucket as one.
void ZeroOptimizer::send_whole() {
  const Setting<Category> category(run_.category, Category::communication);
  TensorList gradients;
  for (const std::size_t index : bucket_.parameters) gradients.push_back(parameters_[index].grad());
  if (!gradients.empty()) flatten(gradients, bucket_.elements).reset();
}

/// allreduce_and_scatter, or allreduce_no_retain to one rank: slices are flattened until they are more than a bucket.
void ZeroOptimizer::send(const std::vector<Slice>& slices) {
  const Setting<Category> category(run_.category, Category::communication);
  std::int64_t elements = 0;
  std::size_t count = 0;
  const auto flush = [&] {
    if (count > 1) {
      const Op op(run_, "aten::flatten_dense_tensors");
      empty(run_, Dims{elements}, Dtype::bf16).reset();
    }
    elements = 0, count = 0;
  };
  for (const Slice& slice : slices) {
    elements += slice.elements;
    ++count;
    if (elements > options_.reduce_bucket_size) flush();
  }
  flush();
}

/// copy_grads_in_partition: gradients of parameters that lie in this rank's part, each as a whole.
void ZeroOptimizer::keep_gradient(std::size_t index) {
  if (!kept_) {
    const Setting<Category> category(run_.category, Category::gradients);
    std::int64_t elements = 0;
    for (const Group& group : groups_)
      for (const std::size_t i : group.mine) elements += parameters_[i].elements();
    const Op op(run_, "aten::empty");
    kept_ = empty(run_, Dims{elements}, Dtype::bf16);
  }
  parameters_[index].grad() = view_of(kept_, parameters_[index].layout());
}

/// reduce_gradients of stage 1, then independent_gradient_partition_epilogue
void ZeroOptimizer::finish_gradients() {
  const Setting<Category> category(run_.category, Category::gradients);
  if (options_.stage == 1 && !options_.overlap_comm)
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      if (parameters_[i].grad()) add_to_bucket(i);
  reduce_bucket();
  collect_gradients();
  bucket_.buffers.clear();
  kept_.reset();
  ready_for_gradients_ = false;
  for (const Tensor& parameter : parameters_) parameter.grad().reset();
}

void ZeroOptimizer::collect_gradients() {
  for (Group& group : groups_) collect_gradients(group);
}

void ZeroOptimizer::collect_gradients(Group& group) {
  TensorList gradients;
  for (const std::size_t i : group.mine) {
    const Tensor& gradient = parameters_[i].grad();
    gradients.push_back(gradient ? alias(gradient) : fresh("aten::zeros_like", parameters_[i]));
  }
  if (!group.accumulated) group.accumulated = gradients;  // later ones are added in place
  if (is_last_) {
    group.averaged = flat_partition(group);
    group.accumulated.reset();
  }
}

/// get_flat_partition: what of each gradient is this rank's, and zeros up to the end of its part.
TensorList ZeroOptimizer::flat_partition(const Group& group) {
  TensorList pieces;
  std::int64_t elements = 0;
  for (std::size_t i = 0; i < group.mine.size(); ++i) {
    const std::int64_t own = share(group.mine[i], options_.rank);
    pieces.push_back(piece((*group.accumulated)[i], own));
    elements += own;
  }
  const std::int64_t part_elements = group.partition.part_elements;
  if (elements < part_elements) pieces.push_back(zeros(run_, Dims{part_elements - elements}, Dtype::bf16));
  return pieces;
}

/// The gradient of a group's master copy: flattened, then converted.
void ZeroOptimizer::set_master_gradient(Group& group) {
  Tensor flat = flatten(group.averaged, group.partition.part_elements);
  group.master.grad() = allocated("aten::to", group, Dtype::f32);
  run_.set_category(*group.master.grad().impl().storage, Category::gradients);
  flat.reset();
  group.averaged.clear();
}

}  // namespace tidemark
