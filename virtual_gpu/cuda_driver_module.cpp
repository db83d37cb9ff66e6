// libcuda, modules and functions: what Triton and run-time compiled kernels load, ask and launch.
#include <cstdint>

#include "card.h"
#include "clusters.h"
#include "cuda_abi.h"
#include "device_clock.h"
#include "handles.h"
#include "modules.h"

using namespace tidemark;
using abi::Status;

namespace {

constexpr int kMaxDynamicShared = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

/// CUlaunchConfig (cuda.h, CUDA 12.4 and 13.0).
struct LaunchConfiguration {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  void* stream;
  const LaunchAttribute* attributes = nullptr;
  unsigned attribute_count = 0;
};

Status launch(const LaunchConfiguration& c) {
  queue_kernel(c.stream, std::uint64_t{c.grid_x} * c.grid_y * c.grid_z * c.block_x * c.block_y * c.block_z);
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status cuModuleLoad(void** module, const char*) {
  put_handle(module);
  return 0;
}
Status cuModuleLoadData(void** module, const void* image) {
  *module = load_module(image);
  return 0;
}
Status cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
  return cuModuleLoadData(module, image);
}
Status cuModuleLoadFatBinary(void** module, const void* image) { return cuModuleLoadData(module, image); }
Status cuModuleUnload(void* module) {
  unload_module(module);
  return 0;
}
Status cuModuleGetFunction(void** function, void* module, const char* name) {
  *function = function_of(module, name);
  return 0;
}
Status cuModuleGetGlobal_v2(std::uintptr_t* pointer, std::size_t* bytes, void*, const char*) {
  if (pointer) *pointer = 0;
  if (bytes) *bytes = 0;
  return abi::kNotFound;
}
Status cuLibraryLoadData(void** library, const void* code, int*, void**, unsigned, int*, void**, unsigned) {
  return cuModuleLoadData(library, code);
}
Status cuLibraryUnload(void* library) { return cuModuleUnload(library); }
Status cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  return cuModuleGetFunction(kernel, library, name);
}
Status cuLibraryGetModule(void** module, void* library) {
  *module = module_like(library);
  return 0;
}
Status cuKernelGetFunction(void** function, void* kernel) {
  *function = kernel;
  return 0;
}
Status cuLinkCreate_v2(unsigned, int*, void**, void** state) {
  put_handle(state);
  return 0;
}
Status cuLinkAddData_v2(void*, int, void*, std::size_t, const char*, unsigned, int*, void**) { return 0; }
Status cuLinkComplete(void*, void** cubin, std::size_t* bytes) {
  static char empty[8];
  *cubin = empty;
  *bytes = sizeof empty;
  return 0;
}
Status cuLinkDestroy(void*) { return 0; }

/// Registers of a kernel whose code is not known, of one that was compiled here for instance.
constexpr int kUnknownRegisters = 32;
Status cuFuncGetAttribute(int* value, int which, void* function) {
  const FunctionFacts facts = function_facts(function);
  const KernelResources kernel = facts.resources.value_or(KernelResources{kUnknownRegisters});
  switch (which) {
    case 0:
      *value = most_threads_per_block(kernel, multiprocessor_limits());
      break;                                             // CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
    case 1: *value = kernel.static_shared_bytes; break;  // _SHARED_SIZE_BYTES
    case 3: *value = kernel.local_bytes; break;          // _LOCAL_SIZE_BYTES
    case 4: *value = kernel.registers; break;            // _NUM_REGS
    case 5:
    case 6: *value = facts.architecture; break;  // _PTX_VERSION, _BINARY_VERSION
    case kMaxDynamicShared: *value = facts.dynamic_shared_bytes; break;
    case 9: *value = -1; break;  // _PREFERRED_SHARED_MEMORY_CARVEOUT: the driver's choice
    default: *value = 0;
  }
  return 0;
}
Status cuFuncSetAttribute(void* function, int which, int value) {
  if (which == kMaxDynamicShared) set_dynamic_shared_bytes(function, value);
  return 0;
}
Status cuFuncSetCacheConfig(void*, int) { return 0; }
Status cuKernelGetAttribute(int* value, int which, void* kernel, int) {
  return cuFuncGetAttribute(value, which, kernel);
}
Status cuKernelSetAttribute(int which, int value, void* kernel, int) {
  return cuFuncSetAttribute(kernel, which, value);
}
Status cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void* function, int threads,
                                                            std::size_t shared_bytes, unsigned) {
  const KernelResources kernel = function_facts(function).resources.value_or(KernelResources{});
  *blocks = resident_blocks(kernel, multiprocessor_limits(), threads, static_cast<int>(shared_bytes));
  return 0;
}
Status cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads, std::size_t shared_bytes) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared_bytes, 0);
}
Status cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, void* function, int blocks, int threads) {
  if (blocks < 1 || threads < 1) return abi::kInvalidValue;
  const auto kernel = function_facts(function).resources;
  *bytes = static_cast<std::size_t>(
      dynamic_shared_bytes_left(kernel.value_or(KernelResources{}), multiprocessor_limits(), blocks));
  return 0;
}
Status cuOccupancyMaxActiveClusters(int* clusters, void* function, const LaunchConfiguration* c) {
  int resident = 0;
  cuOccupancyMaxActiveBlocksPerMultiprocessor(&resident, function,
                                              static_cast<int>(c->block_x * c->block_y * c->block_z), c->shared_bytes);
  *clusters = max_active_clusters(c->attributes, c->attribute_count, resident, card());
  return 0;
}

Status cuLaunchKernel(void*, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                      unsigned block_z, unsigned shared_bytes, void* stream, void**, void**) {
  return launch({grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream});
}
Status cuLaunchKernelEx(const LaunchConfiguration* configuration, void*, void**, void**) {
  return launch(*configuration);
}
Status cuLaunchCooperativeKernel(void*, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                 unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void**) {
  return launch({grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream});
}
Status cuLaunchHostFunc(void*, void (*function)(void*), void* data) {
  function(data);
  return 0;
}
Status cuTensorMapEncodeTiled(void*, ...) { return 0; }
Status cuTensorMapEncodeIm2col(void*, ...) { return 0; }

}  // extern "C"
#pragma GCC visibility pop
