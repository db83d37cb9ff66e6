// libcudart, the device: properties, attributes, versions, limits, errors.
// Layouts: driver_types.h (CUDA 12.4: cudaGetDeviceProperties_v2; CUDA 13.0: cudaGetDeviceProperties).
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "card.h"
#include "cuda_abi.h"
#include "device_attributes.h"
#include "device_clock.h"
#include "device_memory.h"
#include "devices.h"
#include "handles.h"
#include "last_error.h"

namespace tidemark {
namespace {

/// cudaDeviceProp by offset: the two toolkits have the same head and differ in a few fields that CUDA 13 dropped.
// clang-format off: several to a line
struct Prop12 {
  char name[256]; unsigned char uuid[16]; char luid[8]; unsigned luid_mask;
  std::size_t total_global_mem, shared_mem_per_block; int regs_per_block, warp_size; std::size_t mem_pitch;
  int max_threads_per_block, max_threads_dim[3], max_grid_size[3], clock_rate; std::size_t total_const_mem; int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
  int device_overlap, multi_processor_count, kernel_timeout, integrated, can_map_host, compute_mode;
  int textures[40]; std::size_t surface_alignment;
  int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified_addressing;
  int memory_clock_rate, memory_bus_width, l2_cache_size, persisting_l2, max_threads_per_multiprocessor, stream_priorities, global_l1, local_l1;
  std::size_t shared_mem_per_multiprocessor; int regs_per_multiprocessor, managed, multi_gpu_board, board_group, host_atomics;
  int double_ratio, pageable, concurrent_managed, preemption, host_pointer, cooperative, cooperative_multi; std::size_t shared_mem_per_block_optin;
  int page_tables, direct_managed, max_blocks_per_multiprocessor, access_window; std::size_t reserved_shared; int rest[160];
};
struct Prop13 {
  char name[256]; unsigned char uuid[16]; char luid[8]; unsigned luid_mask;
  std::size_t total_global_mem, shared_mem_per_block; int regs_per_block, warp_size; std::size_t mem_pitch;
  int max_threads_per_block, max_threads_dim[3], max_grid_size[3]; std::size_t total_const_mem; int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
  int multi_processor_count, integrated, can_map_host;
  int textures[39]; std::size_t surface_alignment;
  int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified_addressing;
  int memory_bus_width, l2_cache_size, persisting_l2, max_threads_per_multiprocessor, stream_priorities, global_l1, local_l1;
  std::size_t shared_mem_per_multiprocessor; int regs_per_multiprocessor, managed, multi_gpu_board, board_group, host_atomics;
  int pageable, concurrent_managed, preemption, host_pointer, cooperative; std::size_t shared_mem_per_block_optin;
  int page_tables, direct_managed, max_blocks_per_multiprocessor, access_window; std::size_t reserved_shared; int rest[160];
};
// clang-format on

template <class Prop>
void describe(Prop& prop, int device) {
  const Card& c = card();
  std::memset(static_cast<void*>(&prop), 0, offsetof(Prop, rest) + 70 * sizeof(int));
  std::strncpy(prop.name, c.name.c_str(), sizeof prop.name - 1);
  std::memcpy(prop.uuid, "tidemark-virtual", sizeof prop.uuid);
  prop.uuid[15] = static_cast<unsigned char>(prop.uuid[15] + device);
  prop.total_global_mem = static_cast<std::size_t>(c.total_bytes);
  prop.shared_mem_per_block = static_cast<std::size_t>(c.shared_memory_per_block_bytes);
  prop.regs_per_block = attribute(kMaxRegistersPerBlock);
  prop.warp_size = 32;
  prop.mem_pitch = 2147483647;
  prop.max_threads_per_block = 1024;
  prop.max_threads_dim[0] = prop.max_threads_dim[1] = 1024;
  prop.max_threads_dim[2] = 64;
  prop.max_grid_size[0] = 2147483647;
  prop.max_grid_size[1] = prop.max_grid_size[2] = 65535;
  prop.total_const_mem = 65536;
  prop.major = c.compute_capability_major;
  prop.minor = c.compute_capability_minor;
  prop.texture_alignment = 512;
  prop.texture_pitch_alignment = 32;
  prop.multi_processor_count = c.multiprocessors;
  prop.can_map_host = 1;
  prop.surface_alignment = 512;
  prop.concurrent_kernels = 1;
  prop.async_engines = 3;
  prop.unified_addressing = 1;
  prop.pci_bus = 1 + device;
  prop.memory_bus_width = c.memory_bus_bits;
  prop.l2_cache_size = c.l2_bytes;
  prop.max_threads_per_multiprocessor = c.max_threads_per_multiprocessor;
  prop.stream_priorities = prop.global_l1 = prop.local_l1 = 1;
  prop.shared_mem_per_multiprocessor = static_cast<std::size_t>(c.shared_memory_per_multiprocessor_bytes);
  prop.regs_per_multiprocessor = c.registers_per_multiprocessor;
  prop.managed = prop.concurrent_managed = prop.preemption = prop.cooperative = 1;
  prop.shared_mem_per_block_optin = static_cast<std::size_t>(c.shared_memory_per_block_optin_bytes);
  prop.max_blocks_per_multiprocessor = attribute(kMaxBlocksPerMultiprocessor);
  prop.reserved_shared = static_cast<std::size_t>(attribute(kReservedSharedMemoryPerBlock));
}

}  // namespace

int attribute(int which) {
  const Card& c = card();
  switch (which) {
    case 1:
    case 2:
    case 3: return 1024;  // threads per block, block dim x and y
    case 4: return 64;
    case 5: return 2147483647;
    case 6:
    case 7: return 65535;
    case 8: return c.shared_memory_per_block_bytes;
    case 9: return 65536;
    case 10: return 32;
    case 11: return 2147483647;
    case kMaxRegistersPerBlock: return 65536;
    case 13: return c.clock_khz;
    case 14: return 512;
    case 15:
    case 19:
    case 31:
    case 41:
    case 78:
    case 79:
    case 80:
    case 83:
    case 88:
    case 89:
    case 90:
    case 95:
    case 99: return 1;
    case 16: return c.multiprocessors;
    case 33: return 1;
    case 36: return c.memory_clock_khz;
    case 37: return c.memory_bus_bits;
    case 38: return c.l2_bytes;
    case 39: return c.max_threads_per_multiprocessor;
    case 40: return 3;
    case 75: return c.compute_capability_major;
    case 76: return c.compute_capability_minor;
    case 81: return c.shared_memory_per_multiprocessor_bytes;
    case 82: return c.registers_per_multiprocessor;
    case 97: return c.shared_memory_per_block_optin_bytes;
    case 102: return 1;                // CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
    case kMaxBlocksPerMultiprocessor:  // CUDA C++ Programming Guide, table of technical specifications
      return c.compute_capability_major == 7 && c.compute_capability_minor == 5   ? 16
             : c.compute_capability_major == 8 && c.compute_capability_minor == 6 ? 16
             : c.compute_capability_major == 8 && c.compute_capability_minor == 9 ? 24
             : c.compute_capability_major == 12                                   ? 24
                                                                                  : 32;
    case kReservedSharedMemoryPerBlock: return c.compute_capability_major >= 8 ? 1024 : 0;
    case 115: return 1;                                        // memory pools
    case 120: return c.compute_capability_major >= 9 ? 1 : 0;  // cluster launch
    default: return 0;
  }
}

thread_local abi::Status last_error = 0;
void set_last_error(int status) { last_error = status; }

std::size_t free_bytes() {
  return static_cast<std::size_t>(
      std::max<std::int64_t>(device_memory().capacity_bytes() - device_memory().used_bytes(), 0));
}

}  // namespace tidemark

using namespace tidemark;
using abi::Status;

#pragma GCC visibility push(default)
extern "C" {

Status cudaGetDeviceCount(int* count) {
  *count = device_count();
  return 0;
}
Status cudaGetDevice(int* device) {
  *device = current_device();
  return 0;
}
Status cudaSetDevice(int device) { return set_current_device(device) ? abi::kSuccess : abi::kInvalidDevice; }
Status cudaInitDevice(int, unsigned, unsigned) { return 0; }
Status cudaDeviceSynchronize() {
  wait_for_device();
  return 0;
}
Status cudaDeviceReset() { return 0; }
Status cudaRuntimeGetVersion(int* version) {
  *version = card().cuda_major * 1000 + card().cuda_minor * 10;
  return 0;
}
Status cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
Status cudaGetDeviceProperties_v2(void* prop, int device) {
  describe(*static_cast<Prop12*>(prop), device);
  return 0;
}
Status cudaGetDeviceProperties(void* prop, int device) {
  if (card().cuda_major >= 13)
    describe(*static_cast<Prop13*>(prop), device);
  else
    describe(*static_cast<Prop12*>(prop), device);
  return 0;
}
Status cudaDeviceGetAttribute(int* value, int which, int) {
  *value = attribute(which);
  return 0;
}
Status cudaDeviceGetLimit(std::size_t* value, int) {
  *value = std::size_t{8} << 20;
  return 0;
}
Status cudaDeviceGetPCIBusId(char* text, int length, int device) {
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", static_cast<unsigned>(1 + device));
  return 0;
}
Status cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return 0;
}
Status cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return 0;
}
Status cudaDeviceGetDefaultMemPool(void** pool, int) {
  put_handle(pool);
  return 0;
}
Status cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = free_bytes();
  *total = static_cast<std::size_t>(card().total_bytes);
  return 0;
}

Status cudaGetLastError() { return std::exchange(last_error, 0); }
Status cudaPeekAtLastError() { return last_error; }
const char* cudaGetErrorName(Status status) {
  return status == 0                        ? "cudaSuccess"
         : status == abi::kMemoryAllocation ? "cudaErrorMemoryAllocation"
         : status == abi::kNotSupported     ? "cudaErrorNotSupported"
         : status == abi::kNoKernelImage    ? "cudaErrorNoKernelImageForDevice"
         : status == abi::kNotReady         ? "cudaErrorNotReady"
                                            : "cudaErrorUnknown";
}
const char* cudaGetErrorString(Status status) {
  return status == 0                        ? "no error"
         : status == abi::kMemoryAllocation ? "out of memory"
         : status == abi::kInvalidDevice    ? "invalid device ordinal"
         : status == abi::kNotSupported     ? "operation not supported by the virtual GPU"
         : status == abi::kNotReady         ? "device not ready"
         : status == abi::kNoKernelImage    ? "no kernel image is available for execution on the device"
                                            : "unknown error";
}

}  // extern "C"
#pragma GCC visibility pop
