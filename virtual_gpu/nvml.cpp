// libnvidia-ml: what PyTorch asks for in an out-of-memory message, and what monitors ask.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "card.h"
#include "cuda_abi.h"
#include "device_attributes.h"
#include "device_memory.h"
#include "devices.h"
#include "handles.h"

using namespace tidemark;
using abi::Status;

namespace {

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};  // nvmlProcessInfo_t, v2 and v3
struct MemoryInfo {
  unsigned long long total, free, used;
};  // nvmlMemory_t

struct FabricInfo {
  unsigned version;
  unsigned char cluster[16];
  Status status;
  unsigned clique;
  unsigned char state;
};  // nvmlGpuFabricInfoV_t, without what later versions have behind it

constexpr Status kInvalidArgument = 2;  // NVML_ERROR_INVALID_ARGUMENT

/// Handles by index: nvmlDevice_t is a pointer that nobody follows.
std::vector<void*>& handles() {
  static auto* all = [] {
    auto* made = new std::vector<void*>(static_cast<std::size_t>(device_count()));
    for (void*& handle : *made) handle = new_handle();
    return made;
  }();
  return *all;
}

Status handle_of(unsigned index, void** device) {
  if (index >= handles().size()) return kInvalidArgument;
  *device = handles()[index];
  return 0;
}

unsigned index_of(const void* device) {
  const auto found = std::find(handles().begin(), handles().end(), device);
  return found == handles().end() ? 0 : static_cast<unsigned>(found - handles().begin());
}

std::size_t used_bytes_of(const void* device) {
  return static_cast<std::size_t>(device_memory().used_bytes(static_cast<int>(index_of(device))));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status nvmlInit_v2() { return 0; }
Status nvmlInit() { return 0; }
Status nvmlInitWithFlags(unsigned) { return 0; }
Status nvmlShutdown() { return 0; }
const char* nvmlErrorString(Status) { return "Success"; }
Status nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = card().cuda_major * 1000 + card().cuda_minor * 10;
  return 0;
}
Status nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::strncpy(text, "virtual", length);
  return 0;
}
Status nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(device_count());
  return 0;
}
Status nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) { return handle_of(index, device); }
Status nvmlDeviceGetHandleByPciBusId_v2(const char* text, void** device) {
  unsigned domain = 0, bus = 1;
  std::sscanf(text, "%x:%x", &domain, &bus);
  return handle_of(bus - 1, device);
}
Status nvmlDeviceGetHandleByUUID(const char*, void** device) { return handle_of(0, device); }
Status nvmlDeviceGetName(void*, char* name, unsigned length) {
  std::strncpy(name, card().name.c_str(), length);
  return 0;
}
Status nvmlDeviceGetUUID(void*, char* text, unsigned length) {
  std::strncpy(text, "GPU-74696465-6d61-726b-2d76-69727475616c", length);
  return 0;
}
Status nvmlDeviceGetIndex(void* device, unsigned* index) {
  *index = index_of(device);
  return 0;
}
Status nvmlDeviceGetMemoryInfo(void* device, MemoryInfo* info) {
  info->total = static_cast<unsigned long long>(card().total_bytes);
  const auto capacity = static_cast<std::size_t>(device_memory().capacity_bytes());
  info->free = capacity - std::min(capacity, used_bytes_of(device));
  info->used = info->total - info->free;
  return 0;
}
Status nvmlDeviceGetUtilizationRates(void*, unsigned rates[2]) {
  rates[0] = rates[1] = 0;
  return 0;
}
Status nvmlDeviceGetComputeRunningProcesses(void* device, unsigned* count, ProcessInfo* processes) {
  if (*count >= 1 && processes) {
    const auto used = used_bytes_of(device) + static_cast<std::size_t>(card().context_bytes + card().library_bytes);
    processes[0] = {static_cast<unsigned>(getpid()), static_cast<unsigned long long>(used), 0xffffffffU, 0xffffffffU};
  }
  *count = 1;
  return 0;
}
Status nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, ProcessInfo* processes) {
  return nvmlDeviceGetComputeRunningProcesses(device, count, processes);
}
Status nvmlDeviceGetP2PStatus(void*, void*, int, int* status) {
  *status = 1;
  return 0;
}
Status nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int*) { return 3; }  // NVML_ERROR_NOT_SUPPORTED
Status nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*) { return 3; }
Status nvmlDeviceGetGpuFabricInfoV(void*, FabricInfo* info) {
  if (card().compute_capability_major < 9) return 3;  // "for Hopper or newer" (nvml.h)
  *info = {info->version, {}, 0, 0, 0};  // NVML_GPU_FABRIC_STATE_NOT_SUPPORTED: a card without a fabric manager
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
