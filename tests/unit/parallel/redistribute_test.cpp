#include "parallel/redistribute.h"

#include <gtest/gtest.h>

#include "tensor/engine.h"

namespace tidemark {
namespace {

/// A tensor of two samples, eight tokens and 64 features on four devices.
class Redistribute : public testing::Test {
 protected:
  static constexpr Mesh kMesh{4, 1};
  static constexpr Placement kWhole{}, kSums = Placement::sums(), kTokens = Placement::split(1);

  Tensor make(const Dims& sizes = {2, 8, 64}) { return empty(run_, sizes, Dtype::f32); }
  std::int64_t live_bytes() { return run_.allocator().totals().allocated_bytes; }

  tidemark::Run run_{RunConfig()};
};

TEST_F(Redistribute, NothingMovesOnOneDeviceOrToWhereItLies) {
  const Tensor x = make();
  EXPECT_TRUE(moved(x, kSums, kWhole, {1, 0}, false).is(x));
  EXPECT_TRUE(moved(x, kTokens, kTokens, kMesh, false).is(x));
}

TEST_F(Redistribute, GivesThePartsSizes) {
  const Tensor x = make();
  EXPECT_EQ(moved(x, kSums, kWhole, kMesh, false).sizes(), (Dims{2, 8, 64}));
  EXPECT_EQ(moved(x, kTokens, kWhole, kMesh, false).sizes(), (Dims{2, 32, 64}));
  EXPECT_EQ(moved(x, kSums, kTokens, kMesh, false).sizes(), (Dims{2, 2, 64}));
  EXPECT_EQ(moved(x, kWhole, Placement::split(-1), kMesh, false).sizes(), (Dims{2, 8, 16}));
}

TEST_F(Redistribute, WhatACollectiveReadsStaysUntilItsResultIsUsed) {
  const Tensor x = make();
  const std::int64_t before = live_bytes();
  const Tensor part = moved(x, kSums, kTokens, kMesh, true);
  EXPECT_EQ(live_bytes(), before + x.bytes() + part.bytes());
  const Tensor other = make();
  const Tensor unrelated = add_scalar(other);
  EXPECT_EQ(live_bytes(), before + 3 * x.bytes() + part.bytes());
  const Tensor used = add_scalar(part);
  EXPECT_EQ(live_bytes(), before + 2 * x.bytes() + 2 * part.bytes());
}

TEST_F(Redistribute, OneSampleIsGatheredInPlace) {
  const Tensor x = make({1, 8, 64});
  const std::int64_t before = live_bytes();
  const Tensor whole = moved(x, kTokens, kWhole, kMesh, false);
  EXPECT_EQ(live_bytes(), before + whole.bytes());
  EXPECT_TRUE(whole.is_contiguous());
}

TEST_F(Redistribute, GradientsGoBackWhereTheyCameFrom) {
  const Tensor x = make();
  x.impl().requires_grad = true;
  const Tensor y = to_local(redistribute(from_local(x, kTokens, kTokens, kMesh), kTokens, kWhole, kSums, kMesh, false));
  EXPECT_FALSE(y.impl().distributed);
  backward(y, empty_like(y));
  EXPECT_EQ(x.grad().sizes(), x.sizes());
}

}  // namespace
}  // namespace tidemark
