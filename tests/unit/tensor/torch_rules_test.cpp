#include "tensor/torch_rules.h"

#include <gtest/gtest.h>

#include "ops/ops.h"

namespace tidemark {
namespace {

TEST(TorchRules, OfAPatchAreThoseOfItsRelease) { EXPECT_EQ(&torch_rules("2.14.0"), &torch_rules("2.14.1+cu130")); }

TEST(TorchRules, OfAnUnknownReleaseAreTheNearestOnes) {
  EXPECT_EQ(torch_rules("2.16.0").version, known_torch_versions().back());
  EXPECT_EQ(torch_rules("2.6.0").version, known_torch_versions().front());
}

std::int64_t left_by_a_product(const char* version) {
  RunConfig config;
  config.torch = &torch_rules(version);
  config.allocator.device.total_bytes = std::int64_t{1} << 40;
  Run run(config);
  mm(empty(run, Dims{16, 16}, Dtype::f32), empty(run, Dims{16, 16}, Dtype::f32));
  return run.allocator().totals().allocated_bytes;
}

TEST(TorchRules, DecideWhetherAThreadKeepsTheWorkspaceOfAProduct) {
  EXPECT_EQ(left_by_a_product("2.11.0"), (8 << 20) + (128 << 10));
  EXPECT_EQ(left_by_a_product("2.14.1"), (8 << 20) + (128 << 10));
  EXPECT_EQ(left_by_a_product("2.15.0"), 0);
}

}  // namespace
}  // namespace tidemark
