// libcudart, kernels: registered, asked about, launched, and never run.
#include <algorithm>

#include "card.h"
#include "cuda_abi.h"
#include "handles.h"
#include "kernels.h"

namespace tidemark {

int resident_blocks(int threads_per_block) {
  const int limit = attribute(kMaxBlocksPerMultiprocessor);
  return threads_per_block > 0 ? std::clamp(card().max_threads_per_multiprocessor / threads_per_block, 1, limit) : limit;
}

namespace {

struct LaunchConfiguration { abi::Dim3 grid, block; std::size_t shared_bytes; void* stream; };
thread_local LaunchConfiguration pending{};   // between __cudaPushCallConfiguration and the stub that pops it

}  // namespace
}  // namespace tidemark

using namespace tidemark;
using abi::Dim3, abi::Status;

#pragma GCC visibility push(default)
extern "C" {

void** __cudaRegisterFatBinary(void*) { return static_cast<void**>(new_handle()); }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, std::size_t, int, int) {}
char __cudaInitModule(void**) { return 0; }
Status __cudaGetKernel(void** kernel, const void* function) { *kernel = const_cast<void*>(function); return 0; }
Status __cudaLaunchKernel(void*, Dim3, Dim3, void**, std::size_t, void*) { return 0; }
Status __cudaLaunchKernel_ptsz(void*, Dim3, Dim3, void**, std::size_t, void*) { return 0; }
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
Status cudaLaunchKernel(const void*, Dim3, Dim3, void**, std::size_t, void*) { return 0; }
Status cudaLaunchKernelExC(const void*, const void*, void**) { return 0; }
Status cudaLaunchCooperativeKernel(const void*, Dim3, Dim3, void**, std::size_t, void*) { return 0; }

Status cudaFuncGetAttributes(void* out, const void*) {
  auto& a = *static_cast<abi::FuncAttributes*>(out);
  a = {};
  a.max_threads_per_block = 1024;
  a.num_regs = 32;
  // CUB reads these two to choose a kernel's tuning: the card's own architecture.
  a.ptx_version = a.binary_version = card().compute_capability_major * 10 + card().compute_capability_minor;
  a.max_dynamic_shared_size_bytes = card().shared_memory_per_block_bytes;
  a.preferred_shmem_carveout = -1;
  return 0;
}
Status cudaFuncSetAttribute(const void*, int, int) { return 0; }
Status cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads, std::size_t) { *blocks = resident_blocks(threads); return 0; }
Status cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int threads, std::size_t, unsigned) { *blocks = resident_blocks(threads); return 0; }
Status cudaOccupancyMaxPotentialClusterSize(int* size, const void*, const void*) { *size = 8; return 0; }
Status cudaOccupancyMaxActiveClusters(int* clusters, const void*, const void*) { *clusters = card().multiprocessors / 2; return 0; }

}  // extern "C"
#pragma GCC visibility pop
