// libcuda, modules and functions: what Triton and run-time compiled kernels load, ask and launch.
#include <cstdint>

#include "card.h"
#include "cuda_abi.h"
#include "device_clock.h"
#include "handles.h"
#include "kernels.h"

using namespace tidemark;
using abi::Status;

namespace {

/// CUlaunchConfig (cuda.h, CUDA 12.4 and 13.0), up to the stream.
struct LaunchConfiguration { unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes; void* stream; };

Status launch(const LaunchConfiguration& c) {
  queue_kernel(c.stream, std::uint64_t{c.grid_x} * c.grid_y * c.grid_z * c.block_x * c.block_y * c.block_z);
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cuModuleLoad(void** module, const char*) { put_handle(module); return 0; }
Status cuModuleLoadData(void** module, const void*) { put_handle(module); return 0; }
Status cuModuleLoadDataEx(void** module, const void*, unsigned, int*, void**) { put_handle(module); return 0; }
Status cuModuleLoadFatBinary(void** module, const void*) { put_handle(module); return 0; }
Status cuModuleUnload(void*) { return 0; }
Status cuModuleGetFunction(void** function, void*, const char*) { put_handle(function); return 0; }
Status cuModuleGetGlobal_v2(std::uintptr_t* pointer, std::size_t* bytes, void*, const char*) { if (pointer) *pointer = 0; if (bytes) *bytes = 0; return abi::kNotFound; }
Status cuLibraryLoadData(void** library, ...) { put_handle(library); return 0; }
Status cuLibraryUnload(void*) { return 0; }
Status cuLibraryGetKernel(void** kernel, void*, const char*) { put_handle(kernel); return 0; }
Status cuLibraryGetModule(void** module, void*) { put_handle(module); return 0; }
Status cuKernelGetFunction(void** function, void*) { put_handle(function); return 0; }
Status cuLinkCreate_v2(unsigned, int*, void**, void** state) { put_handle(state); return 0; }
Status cuLinkAddData_v2(void*, int, void*, std::size_t, const char*, unsigned, int*, void**) { return 0; }
Status cuLinkComplete(void*, void** cubin, std::size_t* bytes) { static char empty[8]; *cubin = empty; *bytes = sizeof empty; return 0; }
Status cuLinkDestroy(void*) { return 0; }

Status cuFuncGetAttribute(int* value, int which, void*) {
  switch (which) {
    case 0: *value = 1024; break;                 // CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
    case 4: *value = 32; break;                   // _NUM_REGS
    case 5: case 6: *value = card().compute_capability_major * 10 + card().compute_capability_minor; break;
    default: *value = 0;                          // no static shared memory, no spills
  }
  return 0;
}
Status cuFuncSetAttribute(void*, int, int) { return 0; }
Status cuFuncSetCacheConfig(void*, int) { return 0; }
Status cuKernelGetAttribute(int* value, int which, void* kernel, int) { return cuFuncGetAttribute(value, which, kernel); }
Status cuKernelSetAttribute(int, int, void*, int) { return 0; }
Status cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int threads, std::size_t) { *blocks = resident_blocks(threads); return 0; }
Status cuOccupancyMaxActiveClusters(int* clusters, void*, const void*) { *clusters = card().multiprocessors / 2; return 0; }

Status cuLaunchKernel(void*, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void**, void**) {
  return launch({grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream});
}
Status cuLaunchKernelEx(const LaunchConfiguration* configuration, void*, void**, void**) { return launch(*configuration); }
Status cuLaunchCooperativeKernel(void*, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void**) {
  return launch({grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream});
}
Status cuLaunchHostFunc(void*, void (*function)(void*), void* data) { function(data); return 0; }
Status cuTensorMapEncodeTiled(void*, ...) { return 0; }
Status cuTensorMapEncodeIm2col(void*, ...) { return 0; }

}  // extern "C"
#pragma GCC visibility pop
