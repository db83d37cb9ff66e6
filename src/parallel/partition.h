// Parameters laid end to end and cut into equal parts, one per rank.
// deepspeed/runtime/zero/stage_1_and_2.py (0.19.8): get_partition_info, initialize_gradient_partition
#pragma once
#include <cstdint>
#include <vector>

namespace tidemark {

/// The least multiple of `parts` that holds so many elements.
inline std::int64_t padded(std::int64_t elements, std::int64_t parts) { return (elements + parts - 1) / parts * parts; }

struct Partition {
  std::int64_t elements = 0;       // of all, padding included
  std::int64_t part_elements = 0;  // of each part
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> sizes;

  /// What parameter `index` has in part `rank`, in elements.
  std::int64_t share(std::size_t index, std::int64_t rank) const;
  /// The parts that hold a piece of parameter `index`: from the first to the last.
  std::int64_t first_rank(std::size_t index) const { return offsets[index] / part_elements; }
  std::int64_t last_rank(std::size_t index) const { return (offsets[index] + sizes[index] - 1) / part_elements; }
};

/// The whole is padded to a multiple of `alignment` elements per rank.
Partition partition(const std::vector<std::int64_t>& sizes, std::int64_t ranks, std::int64_t alignment);

}  // namespace tidemark
