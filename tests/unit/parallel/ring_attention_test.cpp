#include "parallel/ring_attention.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "parallel/ring_rotation.h"
#include "tensor/engine.h"

namespace tidemark {
namespace {

constexpr std::int64_t kBatch = 2, kHeads = 4, kTokens = 512, kWidth = 64;

RunConfig config() {
  RunConfig config;
  config.card.compute_capability_major = 8;  // flash attention
  config.card.multiprocessors = 108;
  config.card.max_threads_per_multiprocessor = 2048;
  config.card.total_bytes = std::int64_t{80} << 30;
  return config;
}

class RingAttention : public testing::Test {
 protected:
  Tensor make(Dtype dtype = Dtype::bf16) {
    const Tensor x = empty(run_, Dims{kBatch, kHeads, kTokens, kWidth}, dtype);
    x.impl().requires_grad = true;
    return x;
  }
  Tensor attend(const Ring& ring, const Tensor& q, const Tensor& k, const Tensor& v, bool causal = true) {
    return ring_attention(ring, q, k, v, {}, {.causal = causal});
  }
  std::int64_t live_bytes() { return run_.allocator().totals().allocated_bytes; }
  std::int64_t peak_bytes() {
    std::int64_t peak = 0, live = 0;
    for (const std::int32_t event : run_.history()) {
      const auto entry = static_cast<std::size_t>(event > 0 ? event : -event) - 1;
      live += event > 0 ? run_.ledger()[entry].bytes : -run_.ledger()[entry].bytes;
      peak = std::max(peak, live);
    }
    return peak;
  }

  tidemark::Run run_{config()};
};

std::int64_t peak_of(const Ring& ring) {
  struct Case : RingAttention {
    void TestBody() override {}
    std::int64_t peak(const Ring& ring) {
      const Tensor q = make(), k = make(), v = make();
      const Tensor y = attend(ring, q, k, v);
      backward(Tensors{y}, Tensors{empty_like(y)});
      return peak_bytes();
    }
  };
  return Case().peak(ring);
}

TEST_F(RingAttention, KeepsWhatOneGpuWouldKeep) {
  const Tensor q = make(), k = make(), v = make();
  const std::int64_t before = live_bytes(), small = 1024;  // random states
  const Tensor y = attend({.ranks = 4, .rank = 1}, q, k, v);
  EXPECT_EQ(y.sizes(), q.sizes());
  EXPECT_LE(std::abs(live_bytes() - before - y.bytes() - kBatch * kHeads * kTokens * 4), small);
}

TEST_F(RingAttention, GradientsAreThoseOfThisGpusTokens) {
  const Tensor q = make(), k = make(), v = make();
  const std::int64_t before = live_bytes();
  {
    const Tensor y = attend({.ranks = 4, .rank = 2}, q, k, v);
    backward(Tensors{y}, Tensors{empty_like(y)});
  }
  EXPECT_EQ(q.grad().sizes(), q.sizes());
  EXPECT_EQ(k.grad().sizes(), k.sizes());
  EXPECT_GE(live_bytes() - before, 3 * q.bytes());
  EXPECT_LE(live_bytes() - before, 4 * q.bytes());  // keys' and values' came as one
}

TEST(RingAttentionPeak, GatheringTakesKeysAndValuesOfAllGpus) {
  const std::int64_t pair_bytes = 2 * kBatch * kHeads * kTokens * kWidth * 2;
  const auto gathered = [](std::int64_t ranks) { return peak_of({.ranks = ranks, .rank = 0}); };
  EXPECT_EQ(gathered(16) - gathered(8), 8 * pair_bytes);
}

TEST(RingAttentionPeak, SendingOnTakesTheSameForAnyNumber) {
  const auto sent = [](std::int64_t ranks) {
    return peak_of({.ranks = ranks, .rank = 0, .rotate_method = RotateMethod::alltoall});
  };
  EXPECT_EQ(sent(16), sent(8));
}

TEST(RingAttentionPeak, RanksDifferWhereTheLoadIsNotBalanced) {
  const auto of = [](std::int64_t rank, bool load_balance) {
    return peak_of({.ranks = 4, .rank = rank, .load_balance = load_balance});
  };
  EXPECT_LT(of(0, false), of(1, false));
  EXPECT_EQ(of(1, false), of(3, false));
}

TEST_F(RingAttention, RefusesWhatTorchDoesNotTake) {
  const Tensor q = make(), k = make(), v = make(), mask = empty(run_, Dims{kTokens, kTokens}, Dtype::bf16);
  EXPECT_THROW(ring_attention({.ranks = 2}, q, k, v, mask, {}), Error);
  EXPECT_THROW(attend({.ranks = 2}, q, k, v, false), Error);
  EXPECT_EQ(attend({.ranks = 2, .load_balance = false}, q, k, v, false).sizes(), q.sizes());
}

TEST_F(RingAttention, WhatIsSentStaysUntilItHasArrived) {
  RingRotation rotation({.ranks = 2}, RotateMethod::alltoall);
  const std::int64_t before = live_bytes();
  Tensor sent = empty(run_, Dims{1024}, Dtype::f32);
  rotation.exchange_buffers(sent);
  sent.reset();
  EXPECT_EQ(live_bytes(), before + 2 * 4096);
  EXPECT_EQ(rotation.next_buffer().elements(), 1024);
  EXPECT_EQ(live_bytes(), before + 4096);
}

TEST_F(RingAttention, AllGatherSendsOnce) {
  RingRotation rotation({.ranks = 4}, RotateMethod::allgather);
  const Tensor sent = empty(run_, Dims{1024}, Dtype::f32);
  const std::int64_t before = live_bytes();
  rotation.exchange_buffers(sent);
  rotation.exchange_buffers(sent);
  EXPECT_EQ(live_bytes(), before + 4 * 4096);
  EXPECT_EQ(rotation.next_buffer().elements(), 1024);
}

}  // namespace
}  // namespace tidemark
