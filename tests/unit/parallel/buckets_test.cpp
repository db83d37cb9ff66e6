#include "parallel/buckets.h"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

class Buckets : public testing::Test {
 protected:
  Tensor of(std::int64_t elements, Dtype dtype = Dtype::bf16) { return empty(run, Dims{elements}, dtype); }
  std::int64_t live_bytes() { return run.allocator().totals().allocated_bytes; }

  tidemark::Run run{RunConfig()};
};

TEST_F(Buckets, AreClosedByTheTensorThatReachesTheLimit) {
  const std::vector<Tensor> tensors{of(10), of(10), of(30), of(1)};
  EXPECT_EQ(buckets_by_size(tensors, {40}, BucketOrder::as_they_come), (std::vector<Bucket>{{0, 1}, {2}, {3}}));
}

TEST_F(Buckets, GoOnWithTheLastLimit) {
  const std::vector<Tensor> tensors{of(1), of(10), of(10), of(10)};
  EXPECT_EQ(buckets_by_size(tensors, {2, 40}, BucketOrder::as_they_come), (std::vector<Bucket>{{0}, {1, 2}, {3}}));
}

TEST_F(Buckets, HoldOneTypeEach) {
  const std::vector<Tensor> tensors{of(1), of(1, Dtype::f32), of(1)};
  EXPECT_EQ(buckets_by_size(tensors, {1000}, BucketOrder::by_first_index), (std::vector<Bucket>{{0, 2}, {1}}));
  EXPECT_EQ(buckets_by_size(tensors, {1000}, BucketOrder::as_they_come), (std::vector<Bucket>{{1}, {0, 2}}));
}

TEST_F(Buckets, HoldEveryTensorOnce) {
  std::vector<Tensor> tensors;
  for (std::int64_t i = 0; i < 100; ++i) tensors.push_back(of(1 + i * 37 % 50, i % 3 ? Dtype::bf16 : Dtype::f32));
  std::vector<int> seen(tensors.size());
  for (const Bucket& bucket : buckets_by_size(tensors, {64, 200}, BucketOrder::by_first_index))
    for (const std::size_t i : bucket) ++seen[i];
  EXPECT_EQ(seen, std::vector<int>(tensors.size(), 1));
}

TEST_F(Buckets, AreBroadcastTwoAtATime) {
  std::vector<Tensor> tensors;
  for (int i = 0; i < 6; ++i) tensors.push_back(of(1 << 20));
  const std::int64_t before = live_bytes();
  run.timeline().take_peaks();
  broadcast_coalesced(run, tensors, 4 << 20);  // three buckets of two tensors
  EXPECT_EQ(live_bytes(), before);
  EXPECT_EQ(run.timeline().take_peaks().allocated_bytes, before + 2 * (4 << 20));
}

TEST_F(Buckets, OfOneTensorAreThatTensor) {
  const std::vector<Tensor> tensors{of(1 << 20)};
  const std::int64_t before = run.timeline().events();
  broadcast_coalesced(run, tensors, 1);
  EXPECT_EQ(run.timeline().events(), before);
}

}  // namespace
}  // namespace tidemark
