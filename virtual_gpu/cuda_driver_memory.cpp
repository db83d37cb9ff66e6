// libcuda, virtual memory management: what the caching allocator's expandable segments are made of.
// Addresses are reserved without memory; physical handles count against the card; mapping joins the two.
#include <cstdint>
#include <map>
#include <mutex>

#include "cuda_abi.h"
#include "device_memory.h"
#include "handles.h"

namespace tidemark {
namespace {

constexpr std::size_t kGranularityBytes = std::size_t{2} << 20;

/// Physical memory by handle.  A handle holds its bytes until it is released.
class PhysicalHandles {
 public:
  void* create(std::size_t bytes) {
    if (!device_memory().commit(bytes)) return nullptr;
    void* handle = new_handle();
    const std::lock_guard lock(mutex_);
    handles_[handle] = bytes;
    return handle;
  }
  bool release(void* handle) {
    const std::lock_guard lock(mutex_);
    const auto it = handles_.find(handle);
    if (it == handles_.end()) return false;
    device_memory().uncommit(it->second);
    handles_.erase(it);
    return true;
  }

 private:
  std::mutex mutex_;
  std::map<void*, std::size_t> handles_;
};

PhysicalHandles& physical() {
  static auto* all = new PhysicalHandles;
  return *all;
}

}  // namespace
}  // namespace tidemark

using namespace tidemark;
using abi::Status;
using DevicePointer = std::uintptr_t;

#pragma GCC visibility push(default)
extern "C" {

Status cuMemGetAllocationGranularity(std::size_t* bytes, const void*, int) {
  *bytes = kGranularityBytes;
  return 0;
}
Status cuMemAddressReserve(DevicePointer* pointer, std::size_t bytes, std::size_t, DevicePointer, std::uint64_t) {
  *pointer = reinterpret_cast<DevicePointer>(device_memory().reserve_addresses(bytes));
  return *pointer ? abi::kSuccess : abi::kMemoryAllocation;
}
Status cuMemAddressFree(DevicePointer pointer, std::size_t) {
  return device_memory().release_addresses(reinterpret_cast<void*>(pointer)) ? abi::kSuccess : abi::kInvalidValue;
}
Status cuMemCreate(void** handle, std::size_t bytes, const void*, std::uint64_t) {
  *handle = physical().create(bytes);
  return *handle ? abi::kSuccess : abi::kMemoryAllocation;
}
Status cuMemRelease(void* handle) { return physical().release(handle) ? abi::kSuccess : abi::kInvalidValue; }
Status cuMemMap(DevicePointer, std::size_t, std::size_t, void*, std::uint64_t) { return 0; }
Status cuMemUnmap(DevicePointer pointer, std::size_t bytes) {
  fill(reinterpret_cast<void*>(pointer), 0, bytes);
  return 0;
}
Status cuMemSetAccess(DevicePointer, std::size_t, const void*, std::size_t) { return 0; }
Status cuMemExportToShareableHandle(void*, void*, int, std::uint64_t) { return abi::kNotSupported; }
Status cuMemImportFromShareableHandle(void**, void*, int) { return abi::kNotSupported; }
Status cuMemRetainAllocationHandle(void**, void*) { return abi::kNotSupported; }
Status cuMemGetAllocationPropertiesFromHandle(void*, void*) { return abi::kNotSupported; }
Status cuMulticastCreate(void**, const void*) { return abi::kNotSupported; }
Status cuMulticastAddDevice(void*, int) { return abi::kNotSupported; }
Status cuMulticastBindMem(void*, ...) { return abi::kNotSupported; }
Status cuMulticastUnbind(void*, ...) { return abi::kNotSupported; }
Status cuMulticastGetGranularity(std::size_t* bytes, const void*, int) {
  *bytes = kGranularityBytes;
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
