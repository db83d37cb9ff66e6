// For which products bitsandbytes has a kernel of its own: tools/trace/record_gemm_4bit.py recorded what it says.
#include <gtest/gtest.h>

#include <sstream>

#include "../recordings.h"
#include "ops/matmul_4bit.h"

namespace tidemark {
namespace {

Dtype dtype_named(const std::string& name) {
  if (name == "bf16") return Dtype::bf16;
  return name == "fp16" ? Dtype::f16 : Dtype::f32;
}

TEST(Gemm4bit, HasItsOwnKernelWhereTheLibrarySaysSo) {
  std::istringstream lines(unpack(std::filesystem::path(TIDEMARK_RECORDINGS) / "kernels.txt.gz"));
  std::string line;
  std::getline(lines, line);
  std::vector<std::int64_t> rows;
  std::istringstream numbers(line);
  for (std::int64_t m = 0; numbers >> m;) rows.push_back(m);
  int cases = 0;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::int64_t capability = 0, n = 0, k = 0;
    Card card;
    std::string dtype, recorded, ours;
    words >> capability >> card.multiprocessors >> dtype >> n >> k >> recorded;
    card.compute_capability_major = capability / 10;
    card.compute_capability_minor = capability % 10;
    for (const std::int64_t m : rows) ours += has_own_gemm_4bit(card, dtype_named(dtype), m, n, k) ? '1' : '0';
    EXPECT_EQ(ours, recorded) << line;
    ++cases;
  }
  EXPECT_GT(cases, 1000);
}

TEST(Gemm4bit, HasNoneForRowsThatItsBlocksDoNotDivide) {
  Card card;
  card.compute_capability_major = 9;
  card.multiprocessors = 132;
  EXPECT_TRUE(has_own_gemm_4bit(card, Dtype::bf16, 1, 128, 320));
  EXPECT_FALSE(has_own_gemm_4bit(card, Dtype::bf16, 1, 128, 344));
}

}  // namespace
}  // namespace tidemark
