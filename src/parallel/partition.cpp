#include "parallel/partition.h"

#include <algorithm>

namespace tidemark {

std::int64_t Partition::share(std::size_t index, std::int64_t rank) const {
  const std::int64_t begin = std::max(offsets[index], rank * part_elements);
  const std::int64_t end = std::min(offsets[index] + sizes[index], (rank + 1) * part_elements);
  return std::max<std::int64_t>(end - begin, 0);
}

Partition partition(const std::vector<std::int64_t>& sizes, std::int64_t ranks, std::int64_t alignment) {
  Partition result;
  result.sizes = sizes;
  for (const std::int64_t size : sizes) {
    result.offsets.push_back(result.elements);
    result.elements += size;
  }
  result.elements = padded(result.elements, alignment * ranks);
  result.part_elements = result.elements / ranks;
  return result;
}

}  // namespace tidemark
