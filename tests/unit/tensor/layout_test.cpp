#include "tensor/layout.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tidemark {
namespace {

constexpr std::int64_t k32 = 1LL << 32;

TEST(ContiguousStrides, AreProductsOfTheSizesBehind) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({2, 0, 4}), (Dims{4, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), Dims{});
}

TEST(ContiguousStrides, FitIn64Bits) {
  EXPECT_EQ(contiguous_strides({k32, k32}), (Dims{k32, 1}));  // its elements are what does not
  EXPECT_THROW(elements_of({k32, k32}), Error);
  EXPECT_THROW(contiguous_strides({2, k32, k32}), Error);
  EXPECT_THROW(contiguous_strides({0, k32, k32}), Error);
}

}  // namespace
}  // namespace tidemark
