#include "parallel/zero3_optimizer.h"

#include <algorithm>

#include "base/error.h"
#include "parallel/barrier.h"
#include "parallel/gradient_norm.h"
#include "parallel/partition.h"
#include "tensor/engine.h"

namespace tidemark {
namespace {

constexpr std::uint8_t kReduceEvents = 1;  // param_reduce_events
constexpr std::uint32_t kMaxParamReduceEvents = 2;

Tensor made(Run& run, const char* name, std::int64_t elements, Dtype dtype) {
  const Op op(run, name);
  return empty(run, Dims{elements}, dtype);
}

}  // namespace

Zero3Optimizer::Zero3Optimizer(Run& run, ParameterStore& store, Coordinator& coordinator,
                               const std::vector<TensorList>& groups, const Zero3Options& options)
    : run_(run),
      store_(store),
      coordinator_(coordinator),
      options_(options),
      reduce_stream_(options.overlap_comm ? kReduceStream : 0) {
  const Setting<Category> category(run_.category, Category::communication);
  mark_persistent();
  for (const TensorList& group : groups) make_sub_groups(group);
  if (!options_.offload_optimizer) tracker_ = made(run_, "aten::zeros", 1, Dtype::boolean);
  barrier(run_, barrier_);
  if (!options_.offload_param) {
    const Setting<Category> parts(run_.category, Category::parameters);
    flat_ = store_.defragment();
  }
  make_masters();
  make_buffers();
  for (const SubGroup& group : groups_)  // create_reduce_and_remove_grad_hooks
    for (Zero3Parameter* parameter : group) {
      store_.gather({parameter});
      store_.partition(*parameter);
    }
}

/// DeepSpeedZeRoOffload.mark_persistent_parameters
void Zero3Optimizer::mark_persistent() {
  std::int64_t elements = 0;
  for (Zero3Parameter* parameter : store_.all()) {
    if (parameter->elements > options_.model_persistence_threshold - elements) continue;
    if (parameter->elements > options_.param_persistence_threshold) continue;
    parameter->persistent = true;
    persistent_.push_back(parameter);
    elements += parameter->elements;
  }
}

/// _create_fp16_sub_groups: one is full with the parameter with which it reaches its size.
void Zero3Optimizer::make_sub_groups(const TensorList& group) {
  SubGroup all;
  for (const Tensor& parameter : group) all.push_back(&store_.of(parameter));
  std::int64_t elements = 0;
  if (options_.sub_group_size >= part_elements(all)) {
    groups_.push_back(std::move(all));
    return;
  }
  for (Zero3Parameter* parameter : all) {
    if (elements == 0) groups_.emplace_back();
    groups_.back().push_back(parameter);
    elements += parameter->part_elements;
    if (elements >= options_.sub_group_size) elements = 0;
  }
}

std::int64_t Zero3Optimizer::part_elements(const SubGroup& group) const {
  std::int64_t elements = 0;
  for (const Zero3Parameter* parameter : group) elements += parameter->part_elements;
  return elements;
}

/// _create_fp32_partitions: one conversion lives until the next is there.
void Zero3Optimizer::make_masters() {
  const Setting<Category> category(run_.category, Category::optimizer_state);
  Tensor converted;
  for (const SubGroup& group : groups_) {
    if (options_.offload_optimizer) break;  // converted and kept on the host
    if (group.front()->dtype() != Dtype::f32) converted = made(run_, "aten::to", part_elements(group), Dtype::f32);
    masters_.push_back(made(run_, "aten::clone", part_elements(group), Dtype::f32));
  }
  converted.reset();
  barrier(run_, barrier_);
}

/// initialize_optimizer_states, then what gradients go through and end in.
void Zero3Optimizer::make_buffers() {
  std::int64_t largest = 0;
  for (const SubGroup& group : groups_) largest = std::max(largest, part_elements(group));
  if (!options_.offload_optimizer) made(run_, "aten::zeros", largest, Dtype::f32).reset();
  barrier(run_, barrier_);
  if (options_.contiguous_gradients)
    bucket_.buffer = made(run_, "aten::empty", options_.reduce_bucket_size, Dtype::bf16);
  if (options_.offload_optimizer) return;
  const Setting<Category> category(run_.category, Category::gradients);
  std::int64_t elements = 0;
  for (const SubGroup& group : groups_) elements += part_elements(group);
  gradients_ = made(run_, "aten::zeros", elements, Dtype::bf16);
}

void Zero3Optimizer::gradient_is_ready(const Tensor& leaf) {
  Zero3Parameter* parameter = store_.find(leaf);
  if (!parameter) return;  // an activation that was told to require a gradient
  if (!parameter->of_leaf) add_to_bucket(*parameter);
}

void Zero3Optimizer::leaf_module_is_done(const Zero3Parameters& parameters) {
  for (Zero3Parameter* parameter : parameters)
    if (parameter->trains()) add_to_bucket(*parameter);
}

/// reduce_independent_p_g_buckets_and_remove_grads
void Zero3Optimizer::add_to_bucket(Zero3Parameter& parameter) {
  if (bucket_.elements + parameter.elements > options_.reduce_bucket_size && bucket_.elements > 0) reduce_bucket();
  run_.stream_calls.wait_stream(reduce_stream_, run_.stream);
  if (bucket_.buffer && bucket_.elements + parameter.elements <= options_.reduce_bucket_size) {
    run_.stream_calls.work(reduce_stream_);  // the copy
    run_.record_stream(*parameter.tensor.grad().impl().storage, reduce_stream_);
    parameter.tensor.grad() = view_of(bucket_.buffer, parameter.tensor.layout());
  } else if (parameter.dtype() != Dtype::bf16) {
    throw Error(Errc::unsupported, "a gradient in fp32 that is larger than the bucket is not known",
                "zero.reduce_bucket_size", "set it higher");
  }
  bucket_.parameters.push_back(&parameter);
  bucket_.elements += parameter.elements;
}

void Zero3Optimizer::backward(const Tensor& loss, bool is_last) {
  is_last_ = is_last;
  const Tensor divided = options_.scale_wrt_gas ? div_scalar(loss) : loss, scaled = mul_scalar(divided);
  tidemark::backward(scaled);
  const NoGrad no_grad(run_);
  reduce_bucket();
  run_.stream_calls.host_waits(reduce_stream_);
  coordinator_.release_backward_leftovers();
  micro_step_ = is_last ? 0 : micro_step_ + 1;
}

/// __reduce_and_partition_ipg_grads
void Zero3Optimizer::reduce_bucket() {
  if (bucket_.parameters.empty()) return;
  run_.stream_calls.drop_done(kReduceEvents);
  run_.stream_calls.wait_for_oldest(kReduceEvents, kMaxParamReduceEvents + 1);
  const Setting<StreamId> stream(run_.stream, reduce_stream_);
  const Setting<Category> category(run_.category, Category::communication);
  {
    const bool in_place = bucket_.buffer && !options_.reduce_scatter && bucket_.elements <= options_.reduce_bucket_size;
    const TensorList reduced = in_place ? reduce_all() : reduce_scatter();
    Tensor on_card;
    for (Zero3Parameter* parameter : bucket_.parameters) {
      if (options_.offload_optimizer && has_part(*parameter)) send_to_host(*parameter, on_card);
      run_.record_stream(*parameter->tensor.grad().impl().storage, run_.stream);
      parameter->tensor.grad().reset();
    }
  }
  run_.stream_calls.queue_event(kReduceEvents, run_.stream);
  bucket_.parameters.clear();
  bucket_.elements = 0;
}

/// reduce_scatter_coalesced: parts of one rank side by side, each padded.
/// deepspeed/runtime/comm/coalesced_collectives.py
TensorList Zero3Optimizer::reduce_scatter() {
  Zero3Parameters& parameters = bucket_.parameters;
  std::sort(parameters.begin(), parameters.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
  const Zero3Parameter& first = *parameters.front();
  if (parameters.size() == 1 && first.elements % options_.ranks == 0) return {first.tensor.grad()};
  TensorList paddings;
  std::int64_t elements = 0;
  for (std::int64_t rank = 0; rank < options_.ranks; ++rank)
    for (const Zero3Parameter* parameter : parameters) {
      const std::int64_t padding = parameter->part_elements - share(*parameter, rank);
      if (padding > 0) paddings.push_back(made(run_, "aten::empty", padding, Dtype::bf16));
    }
  for (const Zero3Parameter* parameter : parameters) elements += padded(parameter->elements, options_.ranks);
  return {made(run_, "aten::cat", elements, Dtype::bf16)};
}

/// What of its part is no padding.
std::int64_t Zero3Optimizer::share(const Zero3Parameter& parameter, std::int64_t rank) const {
  const std::int64_t begin = std::min(rank * parameter.part_elements, parameter.elements);
  return std::min(begin + parameter.part_elements, parameter.elements) - begin;
}

/// __avg_scatter_contiguous_grads: one all_reduce of the bucket; parts that have padding are copied.
TensorList Zero3Optimizer::reduce_all() {
  TensorList reduced;
  if (options_.ranks > 1) reduced.push_back(made(run_, "aten::mul", bucket_.elements, Dtype::bf16));
  for (const Zero3Parameter* parameter : bucket_.parameters)
    if (share(*parameter, options_.rank) != parameter->part_elements)
      reduced.push_back(made(run_, "aten::zeros", parameter->part_elements, Dtype::bf16));
  return reduced;
}

/// With offload_optimizer the sum is on the host: it comes back to be added to, and for its norm.
void Zero3Optimizer::send_to_host(const Zero3Parameter& parameter, Tensor& gradient) {
  const std::int64_t elements = options_.reduce_scatter ? share(parameter, options_.rank) : parameter.part_elements;
  if (micro_step_ == 0) gradient.reset();  // a sum has a name of its own, until the next one takes it
  gradient = made(run_, "aten::to", elements, Dtype::bf16);
  if (!is_last_) return;
  norms_on_card_[parameter.id] = norm_in_pieces(gradient);
  made(run_, "aten::to", elements, Dtype::f32).reset();
}

void Zero3Optimizer::step(Optimizer& optimizer) {
  const Setting<Category> category(run_.category, Category::workspace);
  coordinator_.release_and_reset_all();
  if (options_.offload_optimizer) {
    look_at_norms_on_host();
    return store_.gather(persistent_);
  }
  const TensorList group_norms = norms();
  const Tensor norm = combine_grad_norm_groups(group_norms);
  check_grad_norm(norm);
  const Tensor previous = global_grad_norm_;  // the engine's, until the step is done
  global_grad_norm_ = fresh("aten::div", norm);
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    set_master_gradient(group);
    if (options_.gradient_clipping > 0) unscale_and_clip(norm);
    optimizer.step(optimizer);
    masters_[group].grad().reset();
  }
  store_.gather(persistent_);
}

/// complete_grad_norm_calculation_for_cpu_offload, for each sub-group; all else of a step is on the host.
void Zero3Optimizer::look_at_norms_on_host() {
  for (const SubGroup& group : groups_) {
    Tensor total;
    for (const Zero3Parameter* parameter : group) {
      const auto norm = norms_on_card_.find(parameter->id);
      if (norm == norms_on_card_.end()) continue;
      const Tensor square = fresh("aten::pow", norm->second);
      if (!total) total = fresh("aten::add", square);
    }
    check_norm_on_host(run_, std::move(total));
  }
  norms_on_card_.clear();
}

/// _get_norm_groups
TensorList Zero3Optimizer::norms() {
  TensorList norms;
  for (const SubGroup& group : groups_) {
    TensorList parts;
    for (const Zero3Parameter* parameter : group)
      parts.push_back(view_of(gradients_, {Dims{parameter->part_elements}, Dims{1}}));
    norms.push_back(grad_norm_of_parts(run_, parts));
  }
  return norms;
}

/// _prepare_fp32_grad_for_sub_group: flattened, unless it is a single one, then converted.
void Zero3Optimizer::set_master_gradient(std::size_t group) {
  const std::int64_t elements = part_elements(groups_[group]);
  Tensor flat;
  if (groups_[group].size() > 1) flat = made(run_, "aten::flatten_dense_tensors", elements, Dtype::bf16);
  const Setting<Category> category(run_.category, Category::gradients);
  masters_[group].grad() = made(run_, "aten::to", elements, Dtype::f32);
}

}  // namespace tidemark
