// libcudart, kernels: registered, asked about, launched, and never run.
#include <algorithm>

#include "card.h"
#include "clusters.h"
#include "cuda_abi.h"
#include "device_attributes.h"
#include "device_clock.h"
#include "fat_binary.h"
#include "handles.h"
#include "last_error.h"

namespace tidemark {
namespace {

/// Blocks of that many threads that one multiprocessor holds, by threads alone: registers and shared memory are not
/// known.
int resident_blocks(int threads_per_block) {
  const int limit = attribute(kMaxBlocksPerMultiprocessor);
  return threads_per_block > 0 ? std::clamp(card().max_threads_per_multiprocessor / threads_per_block, 1, limit)
                               : limit;
}

/// cudaLaunchConfig_t (driver_types.h, CUDA 12.4 and 13.0).
struct LaunchConfiguration {
  abi::Dim3 grid, block;
  std::size_t shared_bytes;
  void* stream;
  const LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
thread_local LaunchConfiguration pending{};  // between __cudaPushCallConfiguration and the stub that pops it

/// Nothing runs; but a kernel that was built for later cards alone fails as it does on the card.
abi::Status launch(const void* host_function, abi::Dim3 grid, abi::Dim3 block, const void* stream) {
  if (image_for_card(host_function).binary_version != 0) {
    queue_kernel(stream, std::uint64_t{grid.x} * grid.y * grid.z * block.x * block.y * block.z);
    return abi::kSuccess;
  }
  set_last_error(abi::kNoKernelImage);
  return abi::kNoKernelImage;
}

}  // namespace
}  // namespace tidemark

using namespace tidemark;
using abi::Dim3, abi::Status;

#pragma GCC visibility push(default)
extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) { return remember_fat_binary(wrapper); }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void** fat_binary, const char* host_function, char*, const char*, int, void*, void*, void*,
                            void*, int*) {
  remember_kernel(fat_binary, host_function);
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, std::size_t, int, int) {}
char __cudaInitModule(void**) { return 0; }
Status __cudaGetKernel(void** kernel, const void* function) {
  *kernel = const_cast<void*>(function);
  return 0;
}
Status __cudaLaunchKernel(void* kernel, Dim3 grid, Dim3 block, void**, std::size_t, void* stream) {
  return launch(kernel, grid, block, stream);
}
Status __cudaLaunchKernel_ptsz(void* kernel, Dim3 grid, Dim3 block, void**, std::size_t, void* stream) {
  return launch(kernel, grid, block, stream);
}
unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared_bytes, void* stream) {
  pending = {grid, block, shared_bytes, stream};
  return 0;
}
Status __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared_bytes, void* stream) {
  *grid = pending.grid;
  *block = pending.block;
  *shared_bytes = pending.shared_bytes;
  *static_cast<void**>(stream) = pending.stream;
  return 0;
}
Status cudaLaunchKernel(const void* kernel, Dim3 grid, Dim3 block, void**, std::size_t, void* stream) {
  return launch(kernel, grid, block, stream);
}
Status cudaLaunchKernelExC(const LaunchConfiguration* c, const void* kernel, void**) {
  return launch(kernel, c->grid, c->block, c->stream);
}
Status cudaLaunchCooperativeKernel(const void* kernel, Dim3 grid, Dim3 block, void**, std::size_t, void* stream) {
  return launch(kernel, grid, block, stream);
}

Status cudaFuncGetAttributes(void* out, const void* function) {
  auto& a = *static_cast<abi::FuncAttributes*>(out);
  a = {};
  a.max_threads_per_block = 1024;
  a.num_regs = 32;
  const KernelImage image = image_for_card(function);  // CUB reads it to choose a kernel's tuning
  if (image.binary_version == 0) return abi::kNoKernelImage;
  a.ptx_version = image.ptx_version;
  a.binary_version = image.binary_version;
  a.max_dynamic_shared_size_bytes = card().shared_memory_per_block_bytes;
  a.preferred_shmem_carveout = -1;
  return 0;
}
Status cudaFuncSetAttribute(const void*, int, int) { return 0; }
Status cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads, std::size_t) {
  *blocks = resident_blocks(threads);
  return 0;
}
Status cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int threads, std::size_t,
                                                              unsigned) {
  *blocks = resident_blocks(threads);
  return 0;
}
Status cudaOccupancyMaxPotentialClusterSize(int* size, const void*, const void*) {
  *size = 8;
  return 0;
}
Status cudaOccupancyMaxActiveClusters(int* clusters, const void*, const LaunchConfiguration* c) {
  const int resident = resident_blocks(static_cast<int>(c->block.x * c->block.y * c->block.z));
  *clusters = max_active_clusters(c->attributes, c->attribute_count, resident, card());
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
