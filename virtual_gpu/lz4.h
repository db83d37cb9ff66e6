// The LZ4 block format (lz4.org, lz4_Block_format.md), decoding: what nvcc compresses machine code with up to CUDA 12.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace tidemark {

/// What `block` holds, which must be `bytes` long; empty if it is not, or if the block is damaged.
std::vector<std::byte> lz4_decode(std::span<const std::byte> block, std::size_t bytes);

}  // namespace tidemark
