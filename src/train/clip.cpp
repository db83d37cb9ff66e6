#include "train/clip.h"

#include <algorithm>

namespace tidemark {
namespace {

/// torch: aten/src/ATen/native/cuda/ForeachReduceOp.cu, foreach_tensor_norm_cuda: one partial norm per chunk of the
/// longest tensor, for every tensor, then the results one by one.
TensorList foreach_norm(const TensorList& tensors) {
  constexpr std::int64_t kChunkSize = 65536;  // MultiTensorApply.cuh
  Run& run = tensors.front().run();
  const Op op(run, "aten::_foreach_norm");
  std::int64_t most_chunks = 0;
  for (const Tensor& tensor : tensors)
    most_chunks = std::max(most_chunks, (tensor.elements() + kChunkSize - 1) / kChunkSize);
  const Dtype dtype = tensors.front().dtype();
  const Dtype partial = is_floating(dtype) && size_of(dtype) < 4 ? Dtype::f32 : dtype;
  const Tensor output_per_tensor = empty(run, {static_cast<std::int64_t>(tensors.size()) * most_chunks}, partial);
  TensorList norms;
  for (std::size_t i = 0; i < tensors.size(); ++i) norms.push_back(empty(run, Dims{}, dtype));
  return norms;
}

/// _get_total_norm
Tensor get_total_norm(Optimizer& optimizer, const std::function<Tensor(Tensor)>& reduce_norms) {
  Run& run = optimizer.run();
  TensorList norms;
  for (const Chosen& group : grouped(optimizer))
    for (Tensor& norm : foreach_norm(gradients_of(optimizer, group))) norms.push_back(std::move(norm));
  Dtype dtype = norms.front().dtype();
  for (const Tensor& norm : norms) dtype = promote(dtype, norm.dtype());
  const Op op(run, "aten::linalg_vector_norm");
  const Tensor stacked = empty(run, {static_cast<std::int64_t>(norms.size())}, dtype);
  return plain_sum(reduce_norms ? reduce_norms(stacked) : stacked, {1}, false, dtype);
}

}  // namespace

void clip_grad_norm(Optimizer& optimizer, const std::function<Tensor(Tensor)>& reduce_norms) {
  if (with_gradient(optimizer).empty()) return;
  const Setting<Category> category(optimizer.run().category, Category::other);
  const Tensor total_norm = get_total_norm(optimizer, reduce_norms);
  Tensor clip_coef;
  {
    const Tensor sum = fresh("aten::add", total_norm);  // max_norm / (total_norm + 1e-6): reciprocal, then mul
    const Tensor reciprocal = fresh("aten::reciprocal", sum);
    clip_coef = fresh("aten::mul", reciprocal);
  }
  const Tensor clip_coef_clamped = fresh("aten::clamp", clip_coef);
}

}  // namespace tidemark
