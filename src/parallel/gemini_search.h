// How large Colossal-AI's Gemini makes its chunks.  colossalai/zero/gemini/chunk/search_utils.py (0.5.0)
#pragma once
#include <cstdint>
#include <vector>

namespace tidemark {

struct ChunkSearch {
  double search_range_m = 32, min_chunk_size_m = 32;  // in 2^20 elements
  std::int64_t search_interval = 1024;                // hidden_dim, where it is given
};

struct ChunkSize {
  std::int64_t elements = 0;
  bool keep_gathered = false;  // all parameters are one chunk that is never cut
  bool operator==(const ChunkSize&) const = default;
};

/// search_chunk_configuration, of parameters of this many elements, in the order of registration, on `ranks` GPUs.
ChunkSize search_chunk_size(const std::vector<std::int64_t>& sizes, std::int64_t ranks, const ChunkSearch& search);

}  // namespace tidemark
