// The part of CUDA's binary interface that the stand-ins answer: values and layouts as the toolkits' own headers give
// them (driver_types.h, cuda.h of CUDA 12.4 and 13.0), spelled here so that no CUDA toolkit is needed to build or to
// run.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tidemark::abi {

using Status = int;
inline constexpr Status kSuccess = 0;
inline constexpr Status kInvalidValue = 1;
inline constexpr Status kMemoryAllocation = 2;  // cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY
inline constexpr Status kInvalidDevice = 101;   // cudaErrorInvalidDevice
inline constexpr Status kInvalidContext = 201;  // CUDA_ERROR_INVALID_CONTEXT
inline constexpr Status kNoKernelImage = 209;   // cudaErrorNoKernelImageForDevice
inline constexpr Status kInvalidHandle = 400;   // cudaErrorInvalidResourceHandle, CUDA_ERROR_INVALID_HANDLE
inline constexpr Status kNotFound = 500;        // cudaErrorSymbolNotFound, CUDA_ERROR_NOT_FOUND
inline constexpr Status kNotReady = 600;        // cudaErrorNotReady, CUDA_ERROR_NOT_READY
inline constexpr Status kNotSupported = 801;    // cudaErrorNotSupported

enum class MemcpyKind : int {
  host_to_host = 0,
  host_to_device = 1,
  device_to_host = 2,
  device_to_device = 3,
  by_address = 4
};
enum class MemoryType : int { unregistered = 0, host = 1, device = 2, managed = 3 };

struct Dim3 {
  unsigned x, y, z;
};

struct PointerAttributes {  // cudaPointerAttributes
  MemoryType type;
  int device;
  void* device_pointer;
  void* host_pointer;
  long reserved[8];  // CUDA 13 has them; CUDA 12 ends before (the caller's struct is then shorter)
};

struct FuncAttributes {  // cudaFuncAttributes, up to the fields that every supported version has
  std::size_t shared_size_bytes, const_size_bytes, local_size_bytes;
  int max_threads_per_block, num_regs, ptx_version, binary_version, cache_mode_ca;
  int max_dynamic_shared_size_bytes, preferred_shmem_carveout;
};

}  // namespace tidemark::abi
