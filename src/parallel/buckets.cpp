#include "parallel/buckets.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace tidemark {
namespace {

/// A bucket that is being filled.
struct Open {
  Dtype dtype;
  Bucket bucket = {};
  std::int64_t bytes = 0;
  std::size_t limit = 0;
};

Open& open_bucket(std::vector<Open>& open, Dtype dtype) {
  for (Open& known : open)
    if (known.dtype == dtype) return known;
  return open.emplace_back(Open{dtype});
}

/// torch: utils::flatten_dense_tensors
Tensor flatten(Run& run, const std::vector<Tensor>& tensors, const Bucket& bucket) {
  const Tensor& first = tensors[bucket.front()];
  if (bucket.size() == 1) return first.is_contiguous() ? first : empty(run, {first.elements()}, first.dtype());
  std::int64_t elements = 0;
  for (const std::size_t i : bucket) elements += tensors[i].elements();
  return empty(run, {elements}, first.dtype());
}

}  // namespace

std::vector<Bucket> buckets_by_size(const std::vector<Tensor>& tensors, const std::vector<std::int64_t>& limits_bytes,
                                    BucketOrder order) {
  std::vector<Open> open;
  std::vector<Bucket> buckets;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Open& current = open_bucket(open, tensors[i].dtype());
    current.bucket.push_back(i);
    current.bytes += tensors[i].bytes();
    if (current.bytes < limits_bytes[current.limit]) continue;
    buckets.push_back(std::exchange(current.bucket, {}));
    current.bytes = 0;
    current.limit = std::min(current.limit + 1, limits_bytes.size() - 1);
  }
  // What is left is taken from an unordered_map, whose newest key comes first.
  for (auto left = open.rbegin(); left != open.rend(); ++left)
    if (!left->bucket.empty()) buckets.push_back(std::move(left->bucket));
  if (order == BucketOrder::by_first_index)
    std::sort(buckets.begin(), buckets.end(), [](const Bucket& a, const Bucket& b) { return a.front() < b.front(); });
  return buckets;
}

void broadcast_coalesced(Run& run, const std::vector<Tensor>& tensors, std::int64_t bucket_bytes) {
  constexpr std::size_t kInFlight = 2;
  const Op op(run, "aten::flatten_dense_tensors");
  std::deque<Tensor> in_flight;
  for (const Bucket& bucket : buckets_by_size(tensors, {bucket_bytes}, BucketOrder::by_first_index)) {
    if (in_flight.size() >= kInFlight) in_flight.pop_front();
    in_flight.push_back(flatten(run, tensors, bucket));
  }
  while (!in_flight.empty()) in_flight.pop_front();
}

}  // namespace tidemark
