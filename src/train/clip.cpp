#include "train/clip.h"

#include <algorithm>

#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

/// torch: aten/src/ATen/native/cuda/ForeachReduceOp.cu, foreach_tensor_norm_cuda: one partial norm per chunk of every
/// tensor, or of the longest for every tensor, then the results one by one.
TensorList foreach_norm(const TensorList& tensors) {
  constexpr std::int64_t kChunkSize = 65536;  // MultiTensorApply.cuh
  Run& run = tensors.front().run();
  const Op op(run, "aten::_foreach_norm");
  const auto count = static_cast<std::int64_t>(tensors.size());
  std::int64_t most_chunks = 0, all_chunks = 0;
  for (const Tensor& tensor : tensors) {
    const std::int64_t chunks = (tensor.elements() + kChunkSize - 1) / kChunkSize;
    most_chunks = std::max(most_chunks, chunks);
    all_chunks += chunks;
  }
  const Dtype dtype = tensors.front().dtype();
  const Dtype partial = is_floating(dtype) && size_of(dtype) < 4 ? Dtype::f32 : dtype;
  const bool packed = run.torch().packs_partial_norms;
  const Tensor offsets = packed ? empty(run, {count + 1}, Dtype::int64) : Tensor();
  const Tensor output_per_tensor = empty(run, {packed ? all_chunks : count * most_chunks}, partial);
  TensorList norms;
  for (std::size_t i = 0; i < tensors.size(); ++i) norms.push_back(empty(run, Dims{}, dtype));
  return norms;
}

/// How many of the gradients lie on the devices like this.
std::size_t count_of(const Optimizer& optimizer, const Chosen& chosen, std::initializer_list<GradientPlacement> like) {
  std::size_t count = 0;
  for (const std::size_t i : chosen)
    for (const GradientPlacement placement : like)
      if (!optimizer.gradient_placements.empty() && optimizer.gradient_placements[i] == placement) ++count;
  return count;
}

/// Gradients that are sums are summed up for the time of an operation; whole ones beside a part are taken as they are.
TensorList summed_gradients(const Optimizer& optimizer, const Chosen& chosen) {
  Chosen sums;
  for (const std::size_t i : chosen)
    if (count_of(optimizer, {i}, {GradientPlacement::sums}) > 0) sums.push_back(i);
  return moved_gradients(optimizer, sums);
}

/// Whether norms of parts, each a share of the whole's, are among them.
bool has_shares(const Optimizer& optimizer, const Chosen& group) {
  return count_of(optimizer, group, {GradientPlacement::part}) > 0;
}

/// torch.stack: beside shares, the norms of what all devices have are made shares too.
Tensor stacked_norms(const Optimizer& optimizer, const Chosen& group, const TensorList& norms, Dtype dtype) {
  using enum GradientPlacement;
  const Op op(optimizer.run(), "aten::stack");
  TensorList made_shares;
  if (has_shares(optimizer, group))
    for (std::size_t n = count_of(optimizer, group, {replicated, whole, sums}); n > 0; --n)
      made_shares.push_back(empty(optimizer.run(), Dims{}, dtype));
  return empty(optimizer.run(), {static_cast<std::int64_t>(norms.size())}, dtype);
}

/// From shares to the whole: raised to the power, summed up, and back.  torch:
/// torch/distributed/tensor/_ops/_math_ops.py, _NormPartial (2.11.0)
Tensor of_the_whole(const Tensor& shares) {
  const Tensor power = empty_like(shares), sum = empty_like(shares);
  return empty_like(shares);
}

/// _get_total_norm
Tensor get_total_norm(Optimizer& optimizer, const std::function<Tensor(Tensor)>& reduce_norms) {
  Run& run = optimizer.run();
  TensorList norms;
  Chosen all;
  for (const Chosen& group : grouped(optimizer)) {
    const TensorList summed = summed_gradients(optimizer, group);
    for (Tensor& norm : foreach_norm(gradients_of(optimizer, group))) norms.push_back(std::move(norm));
    all.insert(all.end(), group.begin(), group.end());
  }
  Dtype dtype = norms.front().dtype();
  for (const Tensor& norm : norms) dtype = promote(dtype, norm.dtype());
  const Tensor stacked = stacked_norms(optimizer, all, norms, dtype);
  const Op op(run, "aten::linalg_vector_norm");
  Tensor whole = reduce_norms ? reduce_norms(stacked) : stacked;  // one dimension of the mesh after the other
  if (has_shares(optimizer, all)) whole = of_the_whole(whole);
  return plain_sum(whole, {1}, false, dtype);
}

}  // namespace

Tensor clip_coefficient(const Tensor& total_norm) {
  const Tensor sum = fresh("aten::add", total_norm);
  const Tensor reciprocal = fresh("aten::reciprocal", sum);
  return fresh("aten::mul", reciprocal);
}

Tensor clip_grad_norm(Optimizer& optimizer, const std::function<Tensor(Tensor)>& reduce_norms) {
  if (with_gradient(optimizer).empty()) return {};
  const Setting<Category> category(optimizer.run().category, Category::other);
  Tensor total_norm = get_total_norm(optimizer, reduce_norms);
  const Tensor clip_coef = clip_coefficient(total_norm);
  const Tensor clip_coef_clamped = fresh("aten::clamp", clip_coef);
  for (const Chosen& group : grouped(optimizer)) {
    const Op op(optimizer.run(), "aten::_foreach_mul_");
    if (!optimizer.run().torch().multiplies_sums_in_parts) summed_gradients(optimizer, group);
  }
  return total_norm;
}

}  // namespace tidemark
