// Answers about the card that the runtime and the driver interface share.
#pragma once
#include <cstddef>

namespace tidemark {

inline constexpr int kMaxRegistersPerBlock = 12;  // CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK
inline constexpr int kPciBusId = 33, kPciDeviceId = 34, kPciDomainId = 50;  // CU_DEVICE_ATTRIBUTE_PCI_…
inline constexpr int kMaxBlocksPerMultiprocessor = 106;    // CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR
inline constexpr int kReservedSharedMemoryPerBlock = 111;  // CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK

/// cudaDeviceAttr / CUdevice_attribute number `which` (the two enumerations agree); 0 for what the card does not have.
int attribute(int which);
/// What cudaMalloc could still hand out on the current card.
std::size_t free_bytes();

}  // namespace tidemark
