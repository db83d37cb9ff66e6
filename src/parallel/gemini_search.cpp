#include "parallel/gemini_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "parallel/partition.h"

namespace tidemark {
namespace {

/// numpy's order of additions, on which the last bit depends.  numpy/_core/src/umath/loops_utils.h.src,
/// DOUBLE_pairwise_sum (2.4)
double pairwise_sum(std::span<const double> values) {
  constexpr std::size_t kBlock = 128, kLanes = 8;
  const std::size_t n = values.size();
  if (n < kLanes) return std::accumulate(values.begin(), values.end(), -0.0);
  if (n > kBlock) {
    const std::size_t half = n / 2 - n / 2 % kLanes;
    return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
  }
  double r[kLanes];
  std::copy_n(values.begin(), kLanes, r);
  std::size_t i = kLanes;
  for (; i < n - n % kLanes; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) r[lane] += values[i + lane];
  double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  for (; i < n; ++i) sum += values[i];
  return sum;
}

/// np.mean(sizes) + 3 * np.std(sizes)
double upper_limit(const std::vector<std::int64_t>& sizes) {
  std::vector<double> values(sizes.begin(), sizes.end());
  const auto count = static_cast<double>(values.size());
  const double mean = pairwise_sum(values) / count;
  for (double& value : values) value = (value - mean) * (value - mean);
  return mean + 3 * std::sqrt(pairwise_sum(values) / count);
}

/// _filter_exlarge_params
std::vector<std::int64_t> without_exlarge(std::vector<std::int64_t> sizes) {
  const double limit = upper_limit(sizes);
  std::erase_if(sizes, [limit](std::int64_t size) { return static_cast<double>(size) > limit; });
  return sizes;
}

/// _get_unused_byte
std::int64_t unused_elements(const std::vector<std::int64_t>& sizes, std::int64_t chunk_size) {
  std::int64_t sum = 0, left = 0;
  for (const std::int64_t size : sizes) {
    if (size > left) {
      sum += left;
      left = chunk_size;
    }
    left -= size;
  }
  return left + sum;
}

/// round(m * 1024**2): to the nearest, of two the even one.
std::int64_t mebi(double m) { return static_cast<std::int64_t>(std::nearbyint(m * 1048576)); }

}  // namespace

ChunkSize search_chunk_size(const std::vector<std::int64_t>& sizes, std::int64_t ranks, const ChunkSearch& search) {
  const std::int64_t total = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  const std::int64_t range = mebi(search.search_range_m), least = mebi(search.min_chunk_size_m);
  if (total < least) return {total, true};
  const std::int64_t interval = search.search_interval;
  const std::vector<std::int64_t> usual = without_exlarge(sizes);
  const std::int64_t largest = std::max(least, *std::max_element(usual.begin(), usual.end()));
  const auto intervals = std::ceil(static_cast<double>(largest) / static_cast<double>(interval));
  const std::int64_t start = static_cast<std::int64_t>(intervals) * interval;
  std::int64_t best = start, least_waste = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t size = start; size <= start + range; size += interval) {
    const std::int64_t waste = unused_elements(usual, size);
    if (waste < least_waste) {
      least_waste = waste;
      best = size;
    }
  }
  return {padded(best, ranks), false};
}

}  // namespace tidemark
