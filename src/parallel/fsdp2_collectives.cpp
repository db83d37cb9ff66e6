#include "parallel/fsdp2_collectives.h"

#include <algorithm>
#include <cmath>

namespace tidemark {
namespace {

// aten/src/ATen/native/cuda/TensorShape.cu (2.11.0)
constexpr std::int64_t kBlockSize = 128;
constexpr std::int64_t kBytesPerThread = 16;
constexpr std::int64_t kTileBytes = kBytesPerThread * kBlockSize;  // TILE_SIZE

std::int64_t div_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// pack_vecs: one tensor of addresses and indices, filled on the host.
void pack(Run& run, std::int64_t numbers) { empty(run, Dims{numbers}, Dtype::int64).reset(); }

/// How many tiles one block copies of each chunk: iters_per_chunk of
/// split_with_sizes_copy_out_cuda_contiguous_no_cast.
std::int64_t tiles_per_block(const Card& card, std::int64_t tiles, std::int64_t ranks) {
  constexpr std::int64_t kOversubscribed = 2;
  const std::int64_t max_blocks =
      card.multiprocessors * card.max_threads_per_multiprocessor / kBlockSize * kOversubscribed;
  const std::int64_t iter_factor = div_up(tiles * ranks, max_blocks);
  const auto root = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(iter_factor))));
  return div_up(iter_factor, std::min(root, ranks));
}

}  // namespace

void split_with_sizes_copy(Run& run, const std::vector<std::int64_t>& chunk_bytes, std::int64_t ranks) {
  const Op op(run, "fsdp::split_with_sizes_copy");
  std::int64_t tiles = 0, blocks = 0;
  for (const std::int64_t bytes : chunk_bytes) tiles += div_up(bytes, kTileBytes);
  const std::int64_t each = tiles_per_block(run.card(), tiles, ranks);
  for (const std::int64_t bytes : chunk_bytes) blocks += div_up(bytes, kTileBytes * each);
  // dst_base_addrs, src_base_addrs, split_chunk_sizes, block_idx_to_split_idx, blocks_cumsums
  const auto splits = static_cast<std::int64_t>(chunk_bytes.size());
  pack(run, 3 * splits + blocks + splits + 1);
}

void chunk_cat(Run& run, const std::vector<std::int64_t>& chunk_bytes) {
  const Op op(run, "fsdp::chunk_cat");
  std::int64_t blocks = 0;
  for (const std::int64_t bytes : chunk_bytes) blocks += div_up(bytes, kTileBytes);
  // srcs, block_idx_to_tensor_idx, tensor_idx_to_start_tensor_bytes, start_block_idx_per_tensor_chunk,
  // actual_tensor_sizes, pad_tensor_chunk_sizes, num_blocks_per_tensor_chunk
  const auto tensors = static_cast<std::int64_t>(chunk_bytes.size());
  pack(run, 4 * tensors + blocks + 2 * (tensors + 1));
}

}  // namespace tidemark
