// Virtual memory management of the driver's interface, as sleep modes use it: addresses stay, memory goes and comes.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "gpu_library/opened_library.h"

namespace tidemark {
namespace {

constexpr std::size_t kBytes = std::size_t{20} << 30;  // of a card that can hold one such block, not two

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  EXPECT_EQ(gpu_function<int(std::size_t*, std::size_t*)>("cuMemGetInfo_v2")(&free, &total), 0);
  return free;
}

std::int64_t peak_bytes() { return gpu_function<std::int64_t(int)>("tidemark_device_peak_bytes")(0); }

int create(void** handle) {
  return gpu_function<int(void**, std::size_t, const void*, std::uint64_t)>("cuMemCreate")(handle, kBytes, nullptr, 0);
}

int release(void* handle) { return gpu_function<int(void*)>("cuMemRelease")(handle); }

TEST(VirtualMemory, PhysicalBytesAreCountedNotAddresses) {
  const std::size_t before = free_bytes();
  std::uintptr_t first = 0, second = 0;
  const auto reserve = gpu_function<int(std::uintptr_t*, std::size_t, std::size_t, std::uintptr_t, std::uint64_t)>(
      "cuMemAddressReserve");
  ASSERT_EQ(reserve(&first, kBytes, 0, 0, 0), 0);
  ASSERT_EQ(reserve(&second, kBytes, 0, 0, 0), 0);
  EXPECT_EQ(free_bytes(), before);
  void *awake = nullptr, *other = nullptr;
  ASSERT_EQ(create(&awake), 0);
  EXPECT_EQ(free_bytes(), before - kBytes);
  EXPECT_EQ(create(&other), 2);  // CUDA_ERROR_OUT_OF_MEMORY
  const auto map = gpu_function<int(std::uintptr_t, std::size_t, std::size_t, void*, std::uint64_t)>("cuMemMap");
  ASSERT_EQ(map(first, kBytes, 0, awake, 0), 0);
  *reinterpret_cast<int*>(first) = 7;
  ASSERT_EQ(gpu_function<int(std::uintptr_t, std::size_t)>("cuMemUnmap")(first, kBytes), 0);
  ASSERT_EQ(release(awake), 0);
  EXPECT_EQ(release(awake), 1);  // CUDA_ERROR_INVALID_VALUE
  ASSERT_EQ(create(&other), 0);  // what slept has left its room
  ASSERT_EQ(map(second, kBytes, 0, other, 0), 0);
  EXPECT_EQ(*reinterpret_cast<int*>(first), 0);
  ASSERT_EQ(release(other), 0);
  EXPECT_EQ(free_bytes(), before);
  EXPECT_GE(peak_bytes(), static_cast<std::int64_t>(kBytes));
  EXPECT_LT(peak_bytes(), static_cast<std::int64_t>(2 * kBytes));
}

}  // namespace
}  // namespace tidemark
