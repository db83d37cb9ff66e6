// libcudart, memory: device memory, pinned host memory, copies and fills.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "card.h"
#include "cuda_abi.h"
#include "device_clock.h"
#include "device_memory.h"
#include "devices.h"
#include "handles.h"
#include "host_pages.h"
#include "notes.h"

namespace tidemark {
namespace {

/// Memory of the host that the card reaches: committed when touched, and looked up by address.
class HostRanges {
 public:
  void* allocate(std::size_t bytes) {
    void* start = host_pages().take(bytes);
    if (!start) return nullptr;
    note(start, bytes, true);
    return start;
  }
  void note(void* start, std::size_t bytes, bool ours) {
    const std::lock_guard lock(mutex_);
    ranges_[static_cast<std::byte*>(start)] = {bytes, ours};
    now_bytes_ += static_cast<std::int64_t>(bytes);
    peak_bytes_ = std::max(peak_bytes_, now_bytes_);
  }
  /// False if `start` is not the start of a range.
  bool forget(void* start) {
    const std::lock_guard lock(mutex_);
    const auto it = ranges_.find(static_cast<std::byte*>(start));
    if (it == ranges_.end()) return false;
    if (it->second.ours) host_pages().give_back(start);
    now_bytes_ -= static_cast<std::int64_t>(it->second.bytes);
    ranges_.erase(it);
    return true;
  }
  std::int64_t peak_bytes() {
    const std::lock_guard lock(mutex_);
    return peak_bytes_;
  }
  bool holds(const void* pointer) {
    const std::lock_guard lock(mutex_);
    auto it = ranges_.upper_bound(static_cast<std::byte*>(const_cast<void*>(pointer)));
    if (it == ranges_.begin()) return false;
    --it;
    return static_cast<const std::byte*>(pointer) < it->first + it->second.bytes;
  }

 private:
  struct Range {
    std::size_t bytes;
    bool ours;
  };
  std::mutex mutex_;
  std::map<std::byte*, Range> ranges_;
  std::int64_t now_bytes_ = 0, peak_bytes_ = 0;
};

HostRanges& pinned() {
  static auto* all = new HostRanges;
  return *all;
}

/// cudaMallocManaged: never out of memory on a card, whose driver moves pages to the host for others.
HostRanges& managed() {
  static auto* all = new HostRanges;
  return *all;
}

abi::Status copy_any(void* destination, const void* source, std::size_t bytes, const void* stream, bool asynchronous) {
  queue_copy(stream, destination, source, bytes, asynchronous);
  const bool reads_device = device_memory().owns(source) && !device_memory().owns(destination);
  if (!(reads_device && take_promised_count(destination, bytes))) copy(destination, source, bytes);
  return abi::kSuccess;
}

abi::Status copy_rows(void* destination, std::size_t to_pitch, const void* source, std::size_t from_pitch,
                      std::size_t width, std::size_t rows, const void* stream) {
  queue_copy(stream, destination, source, width * rows, true);
  for (std::size_t row = 0; row < rows; ++row)
    copy(static_cast<std::byte*>(destination) + row * to_pitch,
         static_cast<const std::byte*>(source) + row * from_pitch, width);
  return abi::kSuccess;
}

}  // namespace

bool is_pinned(const void* pointer) { return pinned().holds(pointer); }

}  // namespace tidemark

using namespace tidemark;
using abi::Status;

std::int64_t tidemark_pinned_peak_bytes() { return pinned().peak_bytes(); }
std::int64_t tidemark_managed_peak_bytes() { return managed().peak_bytes(); }

#pragma GCC visibility push(default)
extern "C" {

Status cudaMalloc(void** pointer, std::size_t bytes) {
  *pointer = device_memory().allocate(bytes);
  return *pointer ? abi::kSuccess : abi::kMemoryAllocation;
}
/// Waits for all work on the card, as every observer of cudaFree has it; cudaMalloc does not (NVIDIA's "GPU Pro Tip:
/// CUDA 7 Streams Simplify Concurrency" shows kernels of several streams side by side with a cudaMalloc between them).
Status cudaFree(void* pointer) {
  if (pointer) wait_for_device();
  if (!managed().forget(pointer)) device_memory().free(pointer);
  return 0;
}
Status cudaMallocAsync(void** pointer, std::size_t bytes, void*) { return cudaMalloc(pointer, bytes); }
Status cudaFreeAsync(void* pointer, void*) {
  device_memory().free(pointer);
  return 0;
}
Status cudaMallocManaged(void** pointer, std::size_t bytes, unsigned) {
  *pointer = managed().allocate(bytes);
  return *pointer ? abi::kSuccess : abi::kMemoryAllocation;
}
Status cudaMemPoolGetAttribute(void*, int, void* value) {
  std::memset(value, 0, sizeof(std::uint64_t));
  return 0;
}

Status cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  *pointer = pinned().allocate(bytes);
  return *pointer ? abi::kSuccess : abi::kMemoryAllocation;
}
Status cudaMallocHost(void** pointer, std::size_t bytes) { return cudaHostAlloc(pointer, bytes, 0); }
Status cudaFreeHost(void* pointer) {
  pinned().forget(pointer);
  return 0;
}
Status cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
  pinned().note(pointer, bytes, false);
  return 0;
}
Status cudaHostUnregister(void* pointer) {
  pinned().forget(pointer);
  return 0;
}
Status cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return 0;
}

Status cudaPointerGetAttributes(void* attributes, const void* pointer) {
  auto& a = *static_cast<abi::PointerAttributes*>(attributes);
  const bool device = device_memory().owns(pointer);
  const bool is_managed = !device && managed().holds(pointer);
  const bool host = !device && (is_managed || pinned().holds(pointer));
  a.type = device       ? abi::MemoryType::device
           : is_managed ? abi::MemoryType::managed
           : host       ? abi::MemoryType::host
                        : abi::MemoryType::unregistered;
  a.device = device ? device_memory().device_of(pointer) : host ? current_device() : -2;  // cudaInvalidDeviceId
  a.device_pointer = device || host ? const_cast<void*>(pointer) : nullptr;
  a.host_pointer = device ? nullptr : const_cast<void*>(pointer);
  return 0;
}

Status cudaMemcpy(void* to, const void* from, std::size_t bytes, int) {
  return copy_any(to, from, bytes, nullptr, false);
}
Status cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int, void* stream) {
  return copy_any(to, from, bytes, stream, true);
}
Status cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes, void* stream) {
  return copy_any(to, from, bytes, stream, true);
}
Status cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t rows, int, void* stream) {
  return copy_rows(to, to_pitch, from, from_pitch, width, rows, stream);
}
Status cudaMemsetAsync(void* pointer, int value, std::size_t bytes, void* stream) {
  queue_fill(stream, bytes);
  fill(pointer, value, bytes);
  return 0;
}
Status cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t rows,
                         void* stream) {
  queue_fill(stream, width * rows);
  for (std::size_t row = 0; row < rows; ++row) fill(static_cast<std::byte*>(pointer) + row * pitch, value, width);
  return 0;
}
Status cudaMemset(void* pointer, int value, std::size_t bytes) {
  return cudaMemsetAsync(pointer, value, bytes, nullptr);
}
Status cudaMemcpyToSymbol(const void*, const void*, std::size_t, std::size_t, int) { return 0; }
Status cudaGetSymbolAddress(void** pointer, const void*) {
  static void* constant_bank = device_memory().reserve_addresses(std::size_t{64} << 10);
  *pointer = constant_bank;
  return 0;
}

Status cudaIpcGetMemHandle(void*, void*) { return abi::kNotSupported; }
Status cudaIpcOpenMemHandle(void**, ...) { return abi::kNotSupported; }
Status cudaIpcGetEventHandle(void*, void*) { return abi::kNotSupported; }
Status cudaIpcOpenEventHandle(void**, ...) { return abi::kNotSupported; }

}  // extern "C"
#pragma GCC visibility pop
