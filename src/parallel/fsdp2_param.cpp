#include "parallel/fsdp2_param.h"

#include <algorithm>

#include "base/error.h"
#include "parallel/tensor_parallel.h"
#include "tensor/arithmetic.h"
#include "tensor/node.h"

namespace tidemark {
namespace {

Dims with_rows(Dims sizes, std::int64_t rows) {
  sizes[0] = rows;
  return sizes;
}

/// torch.as_strided(tensor, sizes, contiguous strides) under no_grad
Tensor shown_as(const Tensor& tensor, const Dims& sizes) {
  Tensor shown = alias(tensor);
  shown.impl().layout = {sizes, contiguous_strides(sizes)};
  return shown;
}

void check_sizes(const Module& module, const Parameter& parameter) {
  if (parameter.sizes.count() == 0)
    throw Error(Errc::bad_value, "fully_shard does not take scalars: " + full_name(module, parameter), "parallel");
}

}  // namespace

ShardRows shard_rows(std::int64_t rows, std::int64_t ranks, std::int64_t rank) {
  const std::int64_t padded = (rows + ranks - 1) / ranks;
  return {padded, std::clamp<std::int64_t>(rows - rank * padded, 0, padded)};
}

FsdpParam::FsdpParam(Run& run, const Module& module, Parameter& parameter, const Fsdp2Options& options)
    : run_(run), parameter_(parameter), offload_to_cpu_(options.offload_to_cpu), sizes_(parameter.tensor.sizes()) {
  check_sizes(module, parameter);
  const Tensor whole = parameter.tensor;
  const auto [padded, own] = shard_rows(sizes_[0], options.ranks, options.rank);
  {
    const Op op(run, "aten::new_zeros");
    padded_ = empty(run, with_rows(sizes_, padded), whole.dtype());
  }
  if (offload_to_cpu_) {
    const Setting<bool> on_host(run.on_host, true);
    padded_ = empty_like(padded_);
  }
  gathered_elements_ = padded_.elements() * options.ranks;
  run.set_module(*padded_.impl().storage, run.module_of(*whole.impl().storage));
  sharded_ = shown_as(padded_, with_rows(sizes_, own));
  sharded_.impl().requires_grad = whole.requires_grad();
  if (options.param_dtype && *options.param_dtype != whole.dtype()) param_dtype_ = options.param_dtype;
  if (options.split && whole.impl().distributed) {
    distributed_ = sharded_.impl().distributed = true;
    split_ = whole.impl().split;
    mesh_ = options.split->mesh();
    placement_ = options.split->placement_of(whole);
  }
  parameter_.tensor = sharded_;
}

Tensor FsdpParam::full_tensor() const {
  const Op op(run_, "_c10d_functional::all_gather_into_tensor");
  const bool is_padded = sharded_.elements() < padded_.elements();  // here, of the last ranks
  const Tensor sent = is_padded ? empty_like(padded_) : padded_;
  Dims all = padded_.sizes();
  all[0] = gathered_elements_ / (padded_.elements() / all[0]);
  return shown_as(empty(run_, all, padded_.dtype()), sizes_);
}

/// The first time it makes the tensor, whose memory then comes and goes: autograd keeps views of it.
void FsdpParam::allocate() {
  const Setting<Category> category(run_.category, Category::parameters);
  if (unsharded_) return run_.resize(*unsharded_.impl().storage, gathered_elements_ * size_of(gathered_dtype()));
  const Op op(run_, "aten::empty");
  unsharded_ = empty(run_, Dims{gathered_elements_}, gathered_dtype());
  unsharded_.impl().layout = {sizes_, contiguous_strides(sizes_)};
  unsharded_.impl().distributed = distributed_;
  unsharded_.impl().split = split_;
  if (split_ >= 0) unsharded_.impl().parts = static_cast<std::int32_t>(mesh_.devices);
}

void FsdpParam::to_unsharded() {
  unsharded_.impl().requires_grad = sharded_.requires_grad();
  parameter_.tensor = unsharded_;
  part_.reset();
}

void FsdpParam::to_sharded() {
  parameter_.tensor = sharded_;
  free();
}

void FsdpParam::to_sharded_post_forward(std::int64_t ranks) {
  const Setting<Category> category(run_.category, Category::parameters);
  {
    const Op op(run_, "aten::clone");
    part_ = empty(run_, Dims{gathered_elements_ / ranks}, gathered_dtype());
  }
  parameter_.tensor = part_;
  free();
}

void FsdpParam::free() {
  if (unsharded_) run_.resize(*unsharded_.impl().storage, 0);
}

void FsdpParam::accumulate_unsharded_grad() {
  if (accumulated_grad_ && unsharded_) unsharded_.grad().reset();
}

void FsdpParam::to_accumulated_grad(std::optional<Dtype> reduce_dtype) {
  if (!reduce_dtype || !unsharded_ || !unsharded_.grad() || unsharded_.grad().dtype() == *reduce_dtype) return;
  const Tensor unsharded_grad = std::move(unsharded_.grad());
  unsharded_.grad().reset();
  const Setting<Category> category(run_.category, Category::gradients);
  const Op op(run_, "aten::to");
  accumulated_grad_ = plain_cast(unsharded_grad, *reduce_dtype);
}

void FsdpParam::set_gradient_dtype(Dtype reduced, bool reduce_grads) {
  if (!unsharded_ || !unsharded_.impl().accumulator) return;
  const Dtype computed = gathered_dtype();
  const bool is_wider = size_of(reduced) > size_of(computed);
  const bool is_reduced_before = placement_ == GradientPlacement::sums;  // may_reduce_grad_outside_dp
  const bool stays = is_wider && !is_reduced_before && (reduce_grads || unsharded_.grad());
  unsharded_.impl().accumulator->outputs[0].dtype = stays ? computed : reduced;
}

Tensor FsdpParam::take_gradient() {
  if (accumulated_grad_) return inner(std::move(accumulated_grad_));
  return unsharded_ && unsharded_.grad() ? inner(std::move(unsharded_.grad())) : Tensor();
}

/// _get_grad_inner_tensor: laid like the parameter.
Tensor FsdpParam::inner(Tensor gradient) const {
  const Op op(run_, "Redistribute");
  switch (placement_) {
    case GradientPlacement::whole: return moved(gradient, {}, Placement::split(0), mesh_, false);
    case GradientPlacement::sums: return moved(gradient, Placement::sums(), {}, mesh_, false);
    default: return gradient;
  }
}

void FsdpParam::give_gradient(const Tensor& reduced) {
  if (sharded_.grad()) return;
  const Setting<bool> on_host(run_.on_host, true);
  sharded_.grad() = offload_to_cpu_ ? empty_like(sharded_) : shown_as(reduced, sharded_.sizes());
}

}  // namespace tidemark
