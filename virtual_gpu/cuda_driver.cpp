// libcuda, the driver interface: initialisation, devices, contexts, look-up by name, launches, copies.
// PyTorch reaches it through cudaGetDriverEntryPointByVersion or dlsym (c10/cuda/driver_api.cpp), Triton through dlsym.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "card.h"
#include "cuda_abi.h"
#include "device_attributes.h"
#include "device_clock.h"
#include "device_memory.h"
#include "devices.h"
#include "handles.h"
#include "library_memory.h"

namespace tidemark {
namespace {

/// The primary contexts, by device: the only ones.
const std::vector<void*>& contexts() {
  static const std::vector<void*> all = [] {
    std::vector<void*> made(static_cast<std::size_t>(device_count()));
    for (void*& context : made) context = new_handle();
    return made;
  }();
  return all;
}
void* context_of(int device) { return contexts()[static_cast<std::size_t>(device)]; }
void* current_context() { return context_of(current_device()); }
thread_local std::vector<int> pushed;  // the devices that were current before

/// A driver function by its plain name; names that the headers map to a later form (`cuLinkCreate` → `cuLinkCreate_v2`)
/// are tried so too.
void* driver_function(const char* name) {
  static void* self = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(&current_context), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  for (const char* suffix : {"", "_v2", "_v3"})
    if (void* function = dlsym(self, (std::string(name) + suffix).c_str())) return function;
  return nullptr;
}

}  // namespace
}  // namespace tidemark

using namespace tidemark;
using abi::Status;
using DevicePointer = std::uintptr_t;

namespace {

Status copy_async(void* to, const void* from, std::size_t bytes, const void* stream) {
  queue_copy(stream, to, from, bytes, true);
  copy(to, from, bytes);
  return 0;
}

/// Where the allocation of `pointer` begins, or how large it is (CU_POINTER_ATTRIBUTE_RANGE_…); of the card's own.
bool give_range(void* data, bool size, DevicePointer pointer) {
  void* start = nullptr;
  std::size_t bytes = 0;
  if (!device_memory().find(reinterpret_cast<void*>(pointer), &start, &bytes)) return false;
  if (size)
    *static_cast<std::size_t*>(data) = bytes;
  else
    *static_cast<DevicePointer*>(data) = reinterpret_cast<DevicePointer>(start);
  return true;
}

/// CUpointer_attribute `which`.  Pinned host memory has the same address on the device, which Triton's launcher asks
/// for (CUDA Driver API 13.0, "Unified Addressing").
bool give_pointer_attribute(void* data, int which, DevicePointer pointer, const abi::PointerAttributes& found) {
  if (found.type == abi::MemoryType::unregistered) return false;
  switch (which) {
    case 1: *static_cast<void**>(data) = context_of(found.device); return true;  // CU_POINTER_ATTRIBUTE_CONTEXT
    case 2: *static_cast<unsigned*>(data) = found.type == abi::MemoryType::host ? 1 : 2; return true;  // _MEMORY_TYPE
    case 3: *static_cast<DevicePointer*>(data) = pointer; return true;                              // _DEVICE_POINTER
    case 4: *static_cast<void**>(data) = found.host_pointer; return found.host_pointer != nullptr;  // _HOST_POINTER
    case 8: *static_cast<bool*>(data) = found.type == abi::MemoryType::managed; return true;        // _IS_MANAGED
    case 9: *static_cast<int*>(data) = found.device; return true;                                   // _DEVICE_ORDINAL
    case 11:
    case 12: return give_range(data, which == 12, pointer);  // _RANGE_START_ADDR, _RANGE_SIZE
    case 13: *static_cast<bool*>(data) = true; return true;  // _MAPPED
    default: return false;
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// cudart_stream.cpp, cudart_memory.cpp, cudart_device.cpp: the runtime's functions are the driver's under other names
// here.
Status cudaStreamCreateWithFlags(void**, unsigned);
Status cudaStreamDestroy(void*);
Status cudaStreamSynchronize(void*);
Status cudaStreamQuery(void*);
Status cudaStreamIsCapturing(void*, int*);
Status cudaStreamWaitEvent(void*, void*, unsigned);
Status cudaEventRecord(void*, void*);
Status cudaEventQuery(void*);
Status cudaEventSynchronize(void*);
Status cudaEventDestroy(void*);
Status cudaFree(void*);
Status cudaHostAlloc(void**, std::size_t, unsigned);
Status cudaFreeHost(void*);
Status cudaDeviceSynchronize();
Status cudaDeviceGetPCIBusId(char*, int, int);
Status cudaPointerGetAttributes(void*, const void*);

Status cuInit(unsigned) { return 0; }
Status cuDriverGetVersion(int* version) {
  *version = card().cuda_major * 1000 + card().cuda_minor * 10;
  return 0;
}
Status cuGetErrorString(Status status, const char** text) {
  *text = status == abi::kMemoryAllocation ? "out of memory" : status ? "error of the virtual GPU" : "no error";
  return 0;
}
Status cuGetErrorName(Status status, const char** text) {
  *text = status == abi::kMemoryAllocation ? "CUDA_ERROR_OUT_OF_MEMORY"
          : status                         ? "CUDA_ERROR_UNKNOWN"
                                           : "CUDA_SUCCESS";
  return 0;
}

Status cuGetProcAddress_v2(const char* name, void** function, int, std::uint64_t, int* found) {
  *function = driver_function(name);
  if (found) *found = *function ? 0 : 1;  // CU_GET_PROC_ADDRESS_SUCCESS, _SYMBOL_NOT_FOUND
  return *function ? abi::kSuccess : abi::kNotFound;
}
Status cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}
Status cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long, int* found) {
  *function = driver_function(name);
  if (found) *found = *function ? 0 : 1;
  return 0;
}
Status cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags, int* found) {
  return cudaGetDriverEntryPointByVersion(name, function, 0, flags, found);
}

Status cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal >= 0 && ordinal < device_count() ? abi::kSuccess : abi::kInvalidDevice;
}
Status cuDeviceGetCount(int* count) {
  *count = device_count();
  return 0;
}
Status cuDeviceGetName(char* name, int length, int) {
  std::strncpy(name, card().name.c_str(), static_cast<std::size_t>(length));
  return 0;
}
Status cuDeviceGetUuid(void* uuid, int device) {
  const auto bytes = device_uuid(device);
  std::memcpy(uuid, bytes.data(), bytes.size());
  return 0;
}
Status cuDeviceGetUuid_v2(void* uuid, int device) { return cuDeviceGetUuid(uuid, device); }
Status cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = static_cast<std::size_t>(card().total_bytes);
  return 0;
}
Status cuDeviceGetAttribute(int* value, int which, int) {
  *value = attribute(which);
  return 0;
}
Status cuDeviceComputeCapability(int* major, int* minor, int) {
  *major = attribute(75);
  *minor = attribute(76);
  return 0;
}
Status cuDeviceGetPCIBusId(char* text, int length, int device) { return cudaDeviceGetPCIBusId(text, length, device); }

Status cuDevicePrimaryCtxRetain(void** context, int device) {
  if (device < 0 || device >= device_count()) return abi::kInvalidDevice;
  *context = context_of(device);
  return 0;
}
Status cuDevicePrimaryCtxRelease_v2(int) { return 0; }
Status cuDevicePrimaryCtxGetState(int, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return 0;
}
Status cuCtxCreate_v2(void** context, unsigned, int device) { return cuDevicePrimaryCtxRetain(context, device); }
Status cuCtxDestroy_v2(void*) { return 0; }
Status cuCtxGetCurrent(void** context) {
  *context = current_context();
  return 0;
}
Status cuCtxSetCurrent(void* context) {
  const auto found = std::find(contexts().begin(), contexts().end(), context);
  if (found != contexts().end()) set_current_device(static_cast<int>(found - contexts().begin()));
  return 0;
}
Status cuCtxPushCurrent_v2(void* context) {
  pushed.push_back(current_device());
  return cuCtxSetCurrent(context);
}
Status cuCtxPopCurrent_v2(void** context) {
  if (context) *context = current_context();
  if (pushed.empty()) return abi::kInvalidContext;
  set_current_device(pushed.back());
  pushed.pop_back();
  return 0;
}
// By their old names too, which cuDNN looks up.
Status cuCtxPushCurrent(void* context) { return cuCtxPushCurrent_v2(context); }
Status cuCtxPopCurrent(void** context) { return cuCtxPopCurrent_v2(context); }
Status cuCtxGetDevice(int* device) {
  *device = current_device();
  return 0;
}
Status cuModuleGetLoadingMode(int* mode) {
  *mode = 2;
  return 0;
}  // CU_MODULE_LAZY_LOADING, the default since CUDA 12.2
Status cuCtxSynchronize() { return cudaDeviceSynchronize(); }
Status cuCtxSetLimit(int, std::size_t) { return 0; }  // stack size, printf buffer: within the context's own memory
Status cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return 0;
}

Status cuStreamCreate(void** stream, unsigned flags) { return cudaStreamCreateWithFlags(stream, flags); }
Status cuStreamDestroy_v2(void* stream) { return cudaStreamDestroy(stream); }
Status cuStreamSynchronize(void* stream) { return cudaStreamSynchronize(stream); }
Status cuStreamQuery(void* stream) { return cudaStreamQuery(stream); }
Status cuStreamIsCapturing(void* stream, int* status) {
  return cudaStreamIsCapturing(stream, status);
}  // triton 3.9, backends/nvidia/driver.c
Status cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return cudaStreamWaitEvent(stream, event, flags);
}
Status cuStreamWriteValue32(void*, DevicePointer, std::uint32_t, unsigned) { return 0; }
Status cuEventCreate(void** event, unsigned) {
  put_handle(event);
  return 0;
}
Status cuEventRecord(void* event, void* stream) { return cudaEventRecord(event, stream); }
Status cuEventQuery(void* event) { return cudaEventQuery(event); }
Status cuEventSynchronize(void* event) { return cudaEventSynchronize(event); }
Status cuEventDestroy_v2(void* event) { return cudaEventDestroy(event); }

Status cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *free = free_bytes();
  *total = static_cast<std::size_t>(card().total_bytes);
  return 0;
}
Status cuMemAlloc_v2(DevicePointer* pointer, std::size_t bytes) {
  *pointer = reinterpret_cast<DevicePointer>(library_is_at_work() ? allocate_for_library(bytes)
                                                                  : device_memory().allocate(bytes));
  return *pointer ? abi::kSuccess : abi::kMemoryAllocation;
}
Status cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return cudaHostAlloc(pointer, bytes, flags);
}
Status cuMemHostGetDevicePointer_v2(DevicePointer* device, void* host, unsigned) {
  *device = reinterpret_cast<DevicePointer>(host);
  return 0;
}
Status cuMemFreeHost(void* pointer) { return cudaFreeHost(pointer); }
Status cuMemFree_v2(DevicePointer pointer) {
  void* const block = reinterpret_cast<void*>(pointer);
  return free_of_library(block) ? abi::kSuccess : cudaFree(block);
}
Status cuMemGetAddressRange_v2(DevicePointer* start, std::size_t* bytes, DevicePointer pointer) {
  void* found = nullptr;
  std::size_t found_bytes = 0;
  if (!device_memory().find(reinterpret_cast<void*>(pointer), &found, &found_bytes)) return abi::kNotFound;
  if (start) *start = reinterpret_cast<DevicePointer>(found);
  if (bytes) *bytes = found_bytes;
  return 0;
}
Status cuMemsetD8Async(DevicePointer pointer, unsigned char value, std::size_t count, void* stream) {
  if (!library_is_at_work()) queue_fill(stream, count);
  fill(reinterpret_cast<void*>(pointer), value, count);
  return 0;
}
Status cuMemsetD32Async(DevicePointer pointer, unsigned value, std::size_t count, void* stream) {
  queue_fill(stream, count * 4);
  if (value == 0) fill(reinterpret_cast<void*>(pointer), 0, count * 4);
  return 0;
}
Status cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t bytes, void* stream) {
  return copy_async(reinterpret_cast<void*>(to), from, bytes, stream);
}
Status cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t bytes, void* stream) {
  return copy_async(to, reinterpret_cast<const void*>(from), bytes, stream);
}
Status cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t bytes, void* stream) {
  return copy_async(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes, stream);
}

/// Parts of a card (green contexts) are not offered; PyTorch then says that it cannot make one.
Status cuDeviceGetDevResource(int, void*, int) { return abi::kNotSupported; }
Status cuGreenCtxCreate(void**, void*, int, unsigned) { return abi::kNotSupported; }
Status cuGreenCtxDestroy(void*) { return abi::kNotSupported; }
Status cuGreenCtxStreamCreate(void**, void*, unsigned, int) { return abi::kNotSupported; }
Status cuCtxFromGreenCtx(void**, void*) { return abi::kNotSupported; }

Status cuPointerGetAttribute(void* data, int which, DevicePointer pointer) {
  abi::PointerAttributes found{};
  cudaPointerGetAttributes(&found, reinterpret_cast<void*>(pointer));
  return give_pointer_attribute(data, which, pointer, found) ? abi::kSuccess : abi::kInvalidValue;
}
Status cuPointerGetAttributes(unsigned count, const int* which, void** data, DevicePointer pointer) {
  for (unsigned i = 0; i < count; ++i)
    if (const Status status = cuPointerGetAttribute(data[i], which[i], pointer)) return status;
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
