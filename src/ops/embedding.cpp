// torch: aten/src/ATen/native/Embedding.cpp, cuda/{Embedding.cu,EmbeddingBackwardKernel.cu}
#include "base/error.h"
#include "ops/cub.h"
#include "ops/ops.h"
#include "tensor/torch_rules.h"

namespace tidemark {
namespace {

std::int64_t div_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// cub/device/dispatch/tuning/tuning_unique_by_key.cuh, of 64-bit keys and values; found by recording.
std::int64_t unique_tile(const Run& run) {
  const std::int64_t major = run.card().compute_capability_major, minor = run.card().compute_capability_minor;
  const bool has_newer_tiles = run.torch().has_newer_unique_tiles;
  if (major >= 9 && has_newer_tiles) return 4928;
  if (major >= 10) return 3840;
  if (major == 9) return 4480;
  if (major == 8 && minor == 0) return has_newer_tiles ? 1344 : 1792;
  return 320;
}

/// Too few blocks for the card, each with much to add up: the parts are then added atomically, in float32, to one row
/// per segment.  Found by recording: tables of up to four rows per multiprocessor, as of token types.
bool has_few_long_segments(const Card& card, std::int64_t segments, std::int64_t partial_segments, std::int64_t width) {
  constexpr std::int64_t kWarp = 32, kMostThreads = 1024, kBlocksPerMultiprocessor = 4, kPartsPerBlock = 4;
  const std::int64_t stride = div_up(width, kWarp) * kWarp;
  const std::int64_t blocks = div_up(segments * stride, std::min(stride, kMostThreads));
  return blocks < kBlocksPerMultiprocessor * card.multiprocessors && partial_segments > kPartsPerBlock * blocks;
}

void take(Run& run, std::int64_t bytes) { run.allocate(bytes).reset(); }

/// embedding_dense_backward_cuda from the sort on, embedding_backward_cuda_kernel.  `of_bags`: nothing is added
/// atomically then.
Tensor by_sorting(Run& run, const Dims& sizes, std::int64_t count, Dtype dtype, bool of_bags = false) {
  const auto integers = [&](std::int64_t n) { return empty(run, Dims{n}, Dtype::int64); };
  const Tensor sorted_indices = integers(count), orig_indices = integers(count);
  {
    const Tensor range = integers(count);
    const std::int64_t passes = run.torch().sorts_indices_by_known_bits ? cub_sort_passes(sizes[0]) : 8;
    take(run, cub_sort_bytes(count, passes, run.card()));
  }
  Tensor grad_weight = empty(run, sizes, dtype);
  const Tensor segment_offsets = integers(count), num_of_segments = integers(1);
  {
    const Tensor unique_keys = integers(count);
    take(run, cub_tiles_bytes(count, unique_tile(run)));
  }
  const std::int64_t max_segments = std::min(count, sizes[0]);
  const Tensor partials_per_segment = integers(max_segments), partials_per_segment_offset = integers(max_segments);
  take(run, cub_scan_bytes(max_segments));
  const Tensor num_of_partial_segments = integers(1);
  constexpr std::int64_t kRowsPerThread = 10;
  const std::int64_t max_partial_segment = count / kRowsPerThread + max_segments;
  const Tensor partial_segment_offset = integers(max_partial_segment);
  const bool half = size_of(dtype) < 4;
  const Dtype accumulate = half ? Dtype::f32 : dtype;
  if (!of_bags && has_few_long_segments(run.card(), max_segments, max_partial_segment, sizes[1])) {
    const Tensor segment_of_partial = integers(max_partial_segment);
    const Tensor grad_weight_per_row = half ? empty(run, Dims{max_segments, sizes[1]}, accumulate) : Tensor();
    return grad_weight;
  }
  const Tensor grad_weight_per_segment = empty(run, Dims{max_partial_segment, sizes[1]}, accumulate);
  return grad_weight;
}

Tensors embedding_backward(Backward& call) {
  constexpr std::int64_t kMostWithoutSort = 3072;
  const std::int64_t count = call.saved[0].elements();
  const Tensor gradient = contiguous(call.gradient()), indices = contiguous(call.saved[0]);
  const Dtype dtype = gradient.dtype();
  if (count <= kMostWithoutSort) return {empty(call.run, call.facts.sizes, dtype)};
  if (call.saved[0].dtype() != Dtype::int64)
    throw Error(Errc::unsupported, "[embedding] the gradient of more than 3072 indices that are not int64");
  return {by_sorting(call.run, call.facts.sizes, count, dtype)};
}

/// cuda/EmbeddingBag.cu, embedding_bag_backward_cuda_sum_avg
Tensors embedding_bag_backward(Backward& call) {
  const Tensor gradient = contiguous(call.gradient());
  return {by_sorting(call.run, call.facts.sizes, call.saved[0].elements(), gradient.dtype(), true)};
}

}  // namespace

/// Keeps the indices.
Tensor embedding(Tensor weight, Tensor indices) {
  const Op op(weight, "aten::embedding");
  Dims sizes = indices.sizes();
  sizes.push_back(weight.size(1));
  const Tensor rows = reshape(indices, {-1});
  Tensor y = empty(weight.run(), sizes, weight.dtype());
  const Facts facts{.sizes = weight.whole_sizes()};
  Tensors saved{std::move(indices)};
  return record(
      std::move(y), {std::move(weight)},
      {.name = "EmbeddingBackward0", .saved = std::move(saved), .facts = facts, .backward = embedding_backward});
}

/// Keeps the indices, where each bag begins, which bag an index is of, how many each bag has, and the weights.
/// torch: nn/functional.py, embedding_bag; cuda/EmbeddingBag.cu, _embedding_bag_cuda
Tensor embedding_bag(Tensor weight, Tensor indices, Tensor per_sample_weights) {
  Run& run = weight.run();
  const std::int64_t bags = indices.size(0), count = indices.elements();
  const auto integers = [&](std::int64_t n) { return empty(run, Dims{n}, Dtype::int64); };
  Tensor offsets = arange(run, bags, Dtype::int64);
  Tensor rows = reshape(std::move(indices), {-1}), weights = reshape(std::move(per_sample_weights), {-1});
  const Op op(weight, "aten::embedding_bag");
  Tensor bag_size = integers(bags), offset2bag = integers(count);
  Tensor y = empty(run, Dims{bags, weight.size(1)}, weight.dtype());
  const Facts facts{.sizes = weight.whole_sizes()};
  Tensors saved{std::move(rows), std::move(offsets), std::move(offset2bag), std::move(bag_size), std::move(weights)};
  return record(
      std::move(y), {std::move(weight)},
      {.name = "EmbeddingBagBackward0", .saved = std::move(saved), .facts = facts, .backward = embedding_bag_backward});
}

}  // namespace tidemark
