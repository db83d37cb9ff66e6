#include "parallel/fsdp2_group.h"

#include <utility>

#include "base/error.h"
#include "parallel/fsdp2_collectives.h"
#include "parallel/partition.h"
#include "tensor/arithmetic.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

Tensor empty_of(Run& run, std::int64_t elements, Dtype dtype) {
  const Op op(run, "aten::empty");
  return empty(run, Dims{elements}, dtype);
}

/// _get_dim0_padded_size, in elements
std::int64_t padded_elements(Dims sizes, std::int64_t ranks) {
  sizes[0] = padded(sizes[0], ranks);
  return elements_of(sizes);
}

}  // namespace

FsdpGroup::FsdpGroup(Run& run, FsdpContext& context, const std::vector<ManagedParameter>& managed,
                     const Fsdp2Options& options, std::int64_t reshard_after_forward)
    : run_(run), context_(context), options_(options), reshard_after_forward_(reshard_after_forward) {
  const Setting<Category> category(run.category, Category::parameters);
  TensorList whole;  // until all have their shards
  params_.reserve(managed.size());
  for (const auto& [module, parameter] : managed) {
    whole.push_back(parameter->tensor);
    params_.emplace_back(run, *module, *parameter, options);
  }
  // A reduce_dtype that is param_dtype needs no cast, where gradients are of that type.
  if (run.torch().fsdp2_gradients_are_wide || options.reduce_dtype != options.param_dtype)
    reduce_dtype_ = options.reduce_dtype;
  check_types();
}

/// _init_mp_dtypes, and what foreach_reduce asserts
void FsdpGroup::check_types() {
  std::optional<Dtype> orig;
  for (const FsdpParam& param : params_) {
    if (!param.requires_grad()) continue;
    if (orig && *orig != param.dtype())
      throw Error(Errc::bad_value,
                  "fully_shard expects parameters of one type among those that a group trains, and has " +
                      std::string(name_of(*orig)) + " and " + std::string(name_of(param.dtype())),
                  "parallel");
    orig = param.dtype();
    orig_dtype_ = param.dtype();
    const Dtype gradient = param.gathered_dtype(), reduced = reduced_dtype(gradient);
    if (gradient != reduced && !(gradient == Dtype::bf16 && reduced == Dtype::f32))
      throw Error(Errc::unsupported,
                  "gradients of " + std::string(name_of(gradient)) + " that are reduced in " +
                      std::string(name_of(reduced)) + " are not modelled",
                  "fsdp2.reduce_dtype", "they may be reduced in their own type, and bf16 in fp32");
  }
}

/// _get_reduce_dtype, of gradients that were computed in `gradient`
Dtype FsdpGroup::reduced_dtype(Dtype gradient) const {
  return reduce_dtype_.value_or(run_.torch().fsdp2_gradients_are_wide ? orig_dtype_ : gradient);
}

void FsdpGroup::unshard() {
  if (all_gather_result_ || is_unsharded()) return;
  all_gather_result_ = options_.ranks == 1 ? AllGatherResult{} : all_gather();
}

Tensor FsdpGroup::full_tensor(const Parameter& parameter) const {
  const auto param = std::ranges::find_if(params_, [&](const FsdpParam& one) { return one.is_of(parameter); });
  TM_CHECK(param != params_.end(), "the module has the group's parameters");
  return param->full_tensor();
}

/// _get_param_all_gather_inputs: shards that are sent in another type, as one tensor.
Tensor FsdpGroup::cast_shards() {
  std::int64_t elements = 0;
  const FsdpParam* first = nullptr;
  for (const FsdpParam& param : params_) {
    if (!param.is_cast() || options_.offload_to_cpu) continue;
    if (!first) first = &param;
    elements += param.gathered_from().elements();
  }
  return first ? empty_of(run_, elements, first->gathered_dtype()) : Tensor();
}

/// FSDPParam.all_gather_inputs of one that is kept on the host.
Tensor FsdpGroup::upload(const FsdpParam& param) {
  const Op op(run_, "aten::to");
  const Tensor uploaded = empty_like(param.gathered_from());
  return param.is_cast() ? plain_cast(uploaded, param.gathered_dtype()) : uploaded;
}

/// foreach_all_gather: of parameters of several types, as bytes.
AllGatherResult FsdpGroup::all_gather() {
  const Setting<Category> category(run_.category, Category::communication);
  const bool has_own_stream = state == State::forward || state == State::pre_backward;
  const Setting<StreamId> stream(run_.stream, has_own_stream ? kAllGatherCopyInStream : run_.stream);
  const Tensor cast = cast_shards();
  TensorList uploaded;
  for (const FsdpParam& param : params_)
    if (param.is_offloaded()) uploaded.push_back(upload(param));
  AllGatherResult result;
  std::int64_t bytes = 0;
  Dtype dtype = params_.front().gathered_dtype();
  for (const FsdpParam& param : params_) {
    result.chunk_bytes.push_back(param.gathered_from().elements() * size_of(param.gathered_dtype()));
    bytes += result.chunk_bytes.back();
    if (param.gathered_dtype() != dtype) dtype = Dtype::uint8;
  }
  const std::int64_t ranks = sharding_ == Sharding::sharded ? options_.ranks : reshard_after_forward_;
  result.output = empty_of(run_, bytes / size_of(dtype) * ranks, dtype);
  return result;
}

void FsdpGroup::wait_for_unshard() {
  if (!all_gather_result_) return;
  std::optional<AllGatherResult> previous;
  if (state == State::forward) previous = std::exchange(context_.all_gather_state, std::nullopt);
  if (run_.torch().fsdp2_keeps_few_names) previous.reset();
  if (options_.ranks == 1)
    copy_alone();
  else
    copy_out(*all_gather_result_);
  for (FsdpParam& param : params_) param.to_unsharded();
  sharding_ = Sharding::unsharded;
  if (state == State::forward && options_.ranks > 1) context_.all_gather_state = std::move(all_gather_result_);
  all_gather_result_.reset();
}

/// foreach_all_gather_copy_out
void FsdpGroup::copy_out(const AllGatherResult& result) {
  for (FsdpParam& param : params_) param.allocate();
  const Setting<Category> category(run_.category, Category::communication);
  const std::int64_t ranks = sharding_ == Sharding::sharded ? options_.ranks : reshard_after_forward_;
  split_with_sizes_copy(run_, result.chunk_bytes, ranks);
}

/// Of one rank: each from its shard; a cast lives until the next one is made.
void FsdpGroup::copy_alone() {
  Tensor all_gather_input;
  for (FsdpParam& param : params_) {
    const Setting<Category> category(run_.category, Category::communication);
    if (param.is_offloaded()) {
      all_gather_input = upload(param);
    } else {
      const Op op(run_, "aten::to");
      all_gather_input = param.is_cast() ? plain_cast(param.gathered_from(), param.gathered_dtype()) : Tensor();
    }
    param.allocate();
  }
}

void FsdpGroup::reshard() {
  if (state != State::forward) return to_sharded();
  if (reshard_after_forward_ == 0) return;
  if (reshard_after_forward_ == options_.ranks) return to_sharded();
  for (FsdpParam& param : params_) param.to_sharded_post_forward(reshard_after_forward_);
  sharding_ = Sharding::sharded_post_forward;
}

void FsdpGroup::to_sharded() {
  if (sharding_ == Sharding::sharded) return;
  for (FsdpParam& param : params_) param.to_sharded();
  sharding_ = Sharding::sharded;
}

void FsdpGroup::pre_forward() {
  state = State::forward;
  unshard();
  wait_for_unshard();
}

void FsdpGroup::post_forward() {
  if (!run_.in_backward) {
    reshard();
    post_forward_indices_.push_back(context_.post_forward_order.size());
    context_.post_forward_order.push_back(this);
  }
  state = State::idle;
}

void FsdpGroup::pre_backward() {
  if (state == State::pre_backward) return;
  state = State::pre_backward;
  unshard();
  wait_for_unshard();
  if (run_.torch().fsdp2_gradients_are_wide)
    for (FsdpParam& param : params_) param.set_gradient_dtype(reduced_dtype(param.gathered_dtype()), reduce_grads);
  prefetch_backward();
}

/// _backward_prefetch: the group before this one in the forward.
void FsdpGroup::prefetch_backward() {
  if (post_forward_indices_.empty()) return;
  const std::size_t index = post_forward_indices_.back();
  post_forward_indices_.pop_back();
  if (index == 0) return;
  FsdpGroup& target = *context_.post_forward_order[index - 1];
  const Setting<State> training(target.state, State::pre_backward);
  target.unshard();
}

void FsdpGroup::post_backward() {
  state = State::post_backward;
  for (FsdpParam& param : params_) param.accumulate_unsharded_grad();
  if (!reduce_grads) {
    if (reshard_after_backward) reshard();
    if (!run_.torch().fsdp2_gradients_are_wide)
      for (FsdpParam& param : params_) param.to_accumulated_grad(reduce_dtype_);
    return;
  }
  std::vector<FsdpParam*> with_grad;
  TensorList unsharded_grads;
  for (FsdpParam& param : params_) {
    Tensor gradient = param.take_gradient();
    if (!gradient) continue;
    with_grad.push_back(&param);
    unsharded_grads.push_back(std::move(gradient));
  }
  if (reshard_after_backward) reshard();
  if (with_grad.empty() && !run_.torch().fsdp2_recycles_without_gradients) return;
  const Tensor rs_state = run_.torch().fsdp2_names_last_state ? context_.reduce_scatter_input : Tensor();
  context_.reduce_scatter_input.reset();
  if (with_grad.empty()) return;
  all_reduce_input_.reset();
  reduce(with_grad, std::move(unsharded_grads));
}

/// foreach_reduce
void FsdpGroup::reduce(const std::vector<FsdpParam*>& with_grad, TensorList unsharded_grads) {
  const Dtype reduce_dtype = reduced_dtype(unsharded_grads.front().dtype());
  std::int64_t elements = 0;
  std::vector<std::int64_t> chunk_bytes;
  for (const FsdpParam* param : with_grad) {
    const std::int64_t padded = padded_elements(param->sizes(), options_.ranks);
    elements += padded;
    chunk_bytes.push_back(padded / options_.ranks * size_of(reduce_dtype));
  }
  const bool is_named = options_.ranks > 1 && !run_.torch().fsdp2_keeps_few_names;
  const Tensor unsharded_grad = is_named ? unsharded_grads.back() : Tensor();
  {
    const Setting<Category> category(run_.category, Category::communication);
    context_.reduce_scatter_input = empty_of(run_, elements, reduce_dtype);
    chunk_cat(run_, chunk_bytes);
  }
  unsharded_grads.clear();
  const Tensor reduce_output = reduce_scatter(elements / options_.ranks, reduce_dtype);
  for (FsdpParam* param : with_grad) param->give_gradient(reduce_output);
}

Tensor FsdpGroup::reduce_scatter(std::int64_t elements, Dtype reduce_dtype) {
  const Setting<Category> category(run_.category, Category::gradients);
  const Setting<StreamId> stream(run_.stream, kReduceScatterStream);
  const Tensor reduce_output = empty_of(run_, elements, reduce_dtype);
  if (options_.has_copies) all_reduce_input_ = reduce_output;
  if (reduce_dtype == orig_dtype_) return reduce_output;
  const Setting<StreamId> post_reduce_stream(run_.stream, options_.has_copies ? kAllReduceStream : run_.stream);
  const Op op(run_, "aten::to");
  return plain_cast(reduce_output, orig_dtype_);
}

void FsdpGroup::finalize_backward() {
  all_reduce_input_.reset();
  all_gather_result_.reset();
  post_forward_indices_.clear();
}

}  // namespace tidemark
