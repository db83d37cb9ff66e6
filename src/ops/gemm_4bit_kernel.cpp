// When bitsandbytes multiplies packed weights by a kernel of its own.
// bitsandbytes: backends/cuda/ops.py, gemm_4bit and _gemm_4bit_use_custom_cuda (0.50.2), which has the reasons
#include "ops/matmul_4bit.h"

namespace tidemark {
namespace {

/// A product of M rows with a weight (N, K), on an architecture.
struct Product4bit {
  std::int64_t m, n, k;
  std::int64_t multiprocessors;
  std::int64_t capability;  // 90 for 9.0

  std::int64_t blocks() const { return (n + 63) / 64; }
  bool is_on(std::int64_t architecture) const { return capability == architecture; }
  bool has_hbm() const { return is_on(80) || capability / 10 == 9; }
  bool is_deep() const { return k > n * 2; }
};

/// Less than 4 Mi weights.
std::int64_t most_rows_if_small(const Product4bit& p) {
  const std::int64_t blocks = p.blocks(), all = p.multiprocessors;
  if (p.k * 2 < p.n) {
    if (p.has_hbm()) {
      const bool low_wave = blocks * 3 < all;
      if (p.is_on(80)) return low_wave ? 1536 : 512;
      return low_wave ? 512 : 320;
    }
    if (p.is_on(75)) {
      if (blocks >= all * 3) return 320;
      if (p.k >= 1024) return 64;
      return p.k >= 704 ? 96 : 320;
    }
    if (blocks >= all) return 320;
    return blocks * p.k > all * 320 ? 192 : 320;
  }
  const bool quarter_wave = blocks * 4 <= all;
  if (p.is_on(80) && quarter_wave) {
    if (p.k >= p.n) return blocks * 8 <= all ? 32 : 128;
    return 384;
  }
  if (p.is_on(75) && blocks < all && p.m > 8) return 64;
  if (quarter_wave) return p.k < p.n || p.has_hbm() ? 32 : 23;
  return blocks * 2 <= all ? 16 : 0;
}

/// Of 5 to 7 rows.
bool has_own_for_few_rows(const Product4bit& p) {
  const std::int64_t blocks = p.blocks(), all = p.multiprocessors;
  const bool is_90 = p.capability / 10 == 9;
  if (!p.has_hbm() || p.m < 6 || blocks < (is_90 ? 36 : 48)) return true;
  const bool below_three_quarters = blocks * 4 < all * 3, below_three_fifths = blocks * 5 < all * 3;
  if (p.k > p.n && below_three_quarters) return false;
  if (p.k != p.n) return true;
  return !(p.is_on(80) && below_three_fifths) && !(is_90 && below_three_quarters && !below_three_fifths);
}

std::int64_t most_rows_on_75(const Product4bit& p) {
  if (p.blocks() >= p.multiprocessors * 3) return p.k < p.n ? 128 : 64;
  return p.blocks() >= p.multiprocessors / 2 ? 64 : 32;
}

std::int64_t most_rows_on_80(const Product4bit& p) {
  const std::int64_t blocks = p.blocks(), all = p.multiprocessors;
  if (blocks >= all * 3) return 128;
  if (blocks >= all) return p.k < p.n ? 64 : 32;
  if (p.k >= p.n * 3 && blocks * 4 > all) return 0;
  if (p.k == p.n && blocks >= 48 && blocks * 5 < all * 3) return 0;
  if (blocks * 2 < all) {
    if (p.k <= p.n) return 128;
    if (blocks * 3 >= all) return 0;
  }
  return blocks >= all / 2 && p.k < p.n ? 128 : 16;
}

std::int64_t most_rows_on_86(const Product4bit& p) {
  if (p.blocks() >= p.multiprocessors) return 128;
  return p.blocks() >= p.multiprocessors / 2 ? 64 : 16;
}

std::int64_t most_rows_on_90(const Product4bit& p) {
  const std::int64_t blocks = p.blocks(), all = p.multiprocessors;
  if (blocks >= all * 3) return 64;
  if (blocks >= all * 2) return 48;
  if (blocks >= all) return 32;
  if (blocks < all / 2) return 0;
  return p.k >= p.n && blocks * 4 < all * 3 ? 0 : 16;
}

std::int64_t most_rows_on_100(const Product4bit& p) {
  if (p.blocks() >= p.multiprocessors * 3) return 32;
  return p.blocks() >= p.multiprocessors && p.k < p.n ? 8 : 0;
}

std::int64_t most_rows_on_120(const Product4bit& p) {
  const std::int64_t blocks = p.blocks(), all = p.multiprocessors;
  if (blocks >= all * 3) return 256;
  if (blocks >= all * 2) return 128;
  if (blocks * 5 >= all * 4) return p.k >= p.n ? 96 : 64;
  if (blocks >= all / 2) return p.k * 2 >= p.n && blocks >= 128 ? 64 : 8;
  return p.is_deep() && blocks > 64 ? 16 : 8;
}

/// Of 8.9, and of what the library has no measurements of.
std::int64_t most_rows_elsewhere(const Product4bit& p) {
  const std::int64_t blocks = p.blocks(), all = p.multiprocessors;
  if (p.is_on(121) && blocks >= all) return 256;
  if (blocks >= all * 3) return 256;
  if (blocks >= all * 2) return 128;
  if (blocks * 5 >= all * 4) {
    if (p.is_deep() || blocks >= 200) return 128;
    if (p.k >= p.n) return all >= 60 ? 128 : 32;
    return 64;
  }
  if (blocks >= all / 2) {
    if (p.is_deep()) return 64;
    return blocks >= 64 ? 8 : 32;
  }
  if (p.k > p.n && blocks <= 48) return p.k >= p.n * 3 ? 12 : 10;
  return p.is_deep() || blocks < 48 ? 16 : 8;
}

std::int64_t most_rows_if_large(const Product4bit& p) {
  if (p.is_on(75)) return most_rows_on_75(p);
  if (p.is_on(80)) return most_rows_on_80(p);
  if (p.is_on(86)) return most_rows_on_86(p);
  if (p.capability / 10 == 9) return most_rows_on_90(p);
  return p.is_on(120) ? most_rows_on_120(p) : most_rows_elsewhere(p);
}

}  // namespace

bool has_own_gemm_4bit(const Card& card, Dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t kBlockSize = 64, kMostRows = 1536, kAlways = 4, kSmall = 4 << 20;
  if (m > kMostRows || k % kBlockSize != 0) return false;
  if (m <= kAlways) return true;
  const std::int64_t capability = card.compute_capability_major * 10 + card.compute_capability_minor;
  const Product4bit product{m, n, k, card.multiprocessors, capability};
  if (dtype == Dtype::f32 || capability < 75 || (capability < 80 && dtype != Dtype::f16)) return m < 8;
  if (capability == 87 || capability / 10 == 11) return false;
  if (capability / 10 == 10) return m <= most_rows_on_100(product);
  if (n * k < kSmall) return m <= most_rows_if_small(product);
  if (m > 512) return false;
  return m < 8 ? has_own_for_few_rows(product) : m <= most_rows_if_large(product);
}

}  // namespace tidemark
