// Pointer attributes of the driver's interface: CUpointer_attribute of cuda.h, CUDA 13.0.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "gpu_library/opened_library.h"

namespace tidemark {
namespace {

enum {
  memory_type = 2,
  device_pointer = 3,
  host_pointer = 4,
  is_managed = 8,
  ordinal = 9,
  range_start = 11,
  range_size
};

template <class Value>
int attribute_of(const void* pointer, int which, Value& value) {
  return gpu_function<int(void*, int, std::uintptr_t)>("cuPointerGetAttribute")(
      &value, which, reinterpret_cast<std::uintptr_t>(pointer));
}

TEST(PointerAttributes, PinnedMemoryHasTheSameAddressOnTheCard) {
  void* pinned = nullptr;
  ASSERT_EQ(gpu_function<int(void**, std::size_t, unsigned)>("cudaHostAlloc")(&pinned, 4096, 0), 0);
  void* inside = static_cast<std::byte*>(pinned) + 100;
  unsigned type = 0;
  EXPECT_EQ(attribute_of(inside, memory_type, type), 0);
  EXPECT_EQ(type, 1U);
  std::uintptr_t address = 0;
  EXPECT_EQ(attribute_of(inside, device_pointer, address), 0);
  EXPECT_EQ(address, reinterpret_cast<std::uintptr_t>(inside));
  int device = -1;
  EXPECT_EQ(attribute_of(inside, ordinal, device), 0);
  EXPECT_EQ(device, 0);
  gpu_function<int(void*)>("cudaFreeHost")(pinned);
  EXPECT_EQ(attribute_of(inside, memory_type, type), 1);
}

TEST(PointerAttributes, DeviceMemoryKnowsItsRange) {
  void* block = nullptr;
  ASSERT_EQ(gpu_function<int(void**, std::size_t)>("cudaMalloc")(&block, 3 << 20), 0);
  void* inside = static_cast<std::byte*>(block) + 12345;
  unsigned type = 0;
  EXPECT_EQ(attribute_of(inside, memory_type, type), 0);
  EXPECT_EQ(type, 2U);
  std::uintptr_t start = 0;
  std::size_t bytes = 0;
  bool managed = true;
  EXPECT_EQ(attribute_of(inside, range_start, start), 0);
  EXPECT_EQ(start, reinterpret_cast<std::uintptr_t>(block));
  EXPECT_EQ(attribute_of(inside, range_size, bytes), 0);
  EXPECT_EQ(bytes, std::size_t{3} << 20);
  EXPECT_EQ(attribute_of(inside, is_managed, managed), 0);
  EXPECT_FALSE(managed);
  void* host = nullptr;
  EXPECT_EQ(attribute_of(inside, host_pointer, host), 1);  // CUDA_ERROR_INVALID_VALUE: the host cannot read it
  gpu_function<int(void*)>("cudaFree")(block);
}

TEST(PointerAttributes, OrdinaryMemoryHasNone) {
  unsigned type = 0;
  EXPECT_EQ(attribute_of(&type, memory_type, type), 1);
}

TEST(Fill, RowsOfATwoDimensionalFillKeepWhatLiesBetween) {
  void* block = nullptr;
  ASSERT_EQ(gpu_function<int(void**, std::size_t)>("cudaMalloc")(&block, 4096), 0);
  auto* bytes = static_cast<unsigned char*>(block);
  bytes[5] = 9;
  ASSERT_EQ(gpu_function<int(void*, std::size_t, int, std::size_t, std::size_t, void*)>("cudaMemset2DAsync")(
                block, 8, 1, 4, 2, nullptr),
            0);
  EXPECT_EQ(bytes[3], 1);
  EXPECT_EQ(bytes[5], 9);
  EXPECT_EQ(bytes[11], 1);
  gpu_function<int(void*)>("cudaFree")(block);
}

}  // namespace
}  // namespace tidemark
