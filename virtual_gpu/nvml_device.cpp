// libnvidia-ml, one device: its facts, memory and processes.  Every fact that data/gpus.json does not have is "Not
// Supported", which callers of NVML must expect.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "card.h"
#include "device_memory.h"
#include "devices.h"
#include "nvml_devices.h"

using namespace tidemark;
using abi::Status;

namespace {

using nvml::kNotSupported;

// Layouts: nvml.h of CUDA 13.0.
struct ProcessInfoV1 {
  unsigned pid;
  unsigned long long used_bytes;
};  // nvmlProcessInfo_v1_t
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};  // nvmlProcessInfo_v2_t, of v2 and v3
struct MemoryInfo {
  unsigned long long total, free, used;
};  // nvmlMemory_t
struct MemoryInfoV2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};  // nvmlMemory_v2_t
struct PciInfo {
  char legacy_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char id[32];
};  // nvmlPciInfo_t
struct FabricInfo {
  unsigned version;
  unsigned char cluster[16];
  Status status;
  unsigned clique;
  unsigned char state;
};  // nvmlGpuFabricInfoV_t, without what later versions have behind it

constexpr unsigned kNoInstance = 0xffffffffU;
constexpr unsigned kNvidiaVendor = 0x10de;
enum Clock { graphics, multiprocessor, memory, video };  // nvmlClockType_t

unsigned long long used_bytes(const void* device) {
  return static_cast<unsigned long long>(device_memory().used_bytes(static_cast<int>(nvml::index_of(device))));
}

/// Writes one process, this one, where the caller has room for it.
template <class Info>
Status give_this_process(const void* device, unsigned* count, Info* processes) {
  const bool has_room = *count >= 1 && processes;
  *count = 1;
  if (!has_room) return nvml::kInsufficientSize;
  processes[0] = {};
  processes[0].pid = static_cast<unsigned>(getpid());
  processes[0].used_bytes =
      used_bytes(device) + static_cast<unsigned long long>(card().context_bytes + card().library_bytes);
  if constexpr (requires { processes[0].gpu_instance; })
    processes[0].gpu_instance = processes[0].compute_instance = kNoInstance;
  return 0;
}

unsigned long long free_bytes_of(const void* device) {
  const auto capacity = static_cast<unsigned long long>(device_memory().capacity_bytes());
  return capacity - std::min(capacity, used_bytes(device));
}

Status give_clock(int kind, unsigned* mhz) {
  if (kind < graphics || kind > video) return nvml::kInvalidArgument;
  if (kind == video) return kNotSupported;
  *mhz = static_cast<unsigned>((kind == memory ? card().memory_clock_khz : card().clock_khz) / 1000);
  return 0;
}

bool has_capability(int major, int minor) {
  return card().compute_capability_major == major && card().compute_capability_minor == minor;
}

/// Instances are a feature of the chips for data centers, whose capability ends in 0 (Multi-Instance GPU User Guide,
/// "Supported GPUs").
bool has_instances() { return card().compute_capability_major >= 8 && card().compute_capability_minor == 0; }

/// nvmlDeviceArchitecture_t by compute capability.
unsigned architecture() {
  if (has_capability(7, 5)) return 6;  // Turing
  if (has_capability(8, 9)) return 8;  // Ada
  switch (card().compute_capability_major) {
    case 7: return 5;  // Volta
    case 8: return 7;  // Ampere
    case 9: return 9;  // Hopper
    case 10:
    case 12: return 10;  // Blackwell
    default: return 0xffffffffU;
  }
}

/// CUDA C++ Programming Guide, "Arithmetic Instructions": 32-bit additions per clock and multiprocessor.
unsigned cores_per_multiprocessor() { return card().compute_capability_major == 7 || has_capability(8, 0) ? 64 : 128; }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Status nvmlDeviceGetName(void*, char* name, unsigned length) {
  return nvml::give_text(card().name.c_str(), name, length);
}
Status nvmlDeviceGetUUID(void* device, char* text, unsigned length) {
  return nvml::give_text(device_uuid_text(static_cast<int>(nvml::index_of(device))).c_str(), text, length);
}
Status nvmlDeviceGetMinorNumber(void* device, unsigned* number) {
  *number = nvml::index_of(device);
  return 0;
}
Status nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  *major = card().compute_capability_major;
  *minor = card().compute_capability_minor;
  return 0;
}
Status nvmlDeviceGetArchitecture(void*, unsigned* which) {
  *which = architecture();
  return 0;
}
Status nvmlDeviceGetNumGpuCores(void*, unsigned* count) {
  *count = static_cast<unsigned>(card().multiprocessors) * cores_per_multiprocessor();
  return 0;
}
Status nvmlDeviceGetPciInfo_v3(void* device, PciInfo* info) {
  *info = {};
  info->bus = 1 + nvml::index_of(device);
  info->device_id = kNvidiaVendor;  // and 0 for the device, which the card's facts do not say
  std::snprintf(info->legacy_id, sizeof info->legacy_id, "0000:%02X:00.0", info->bus);
  std::snprintf(info->id, sizeof info->id, "00000000:%02X:00.0", info->bus);
  return 0;
}
Status nvmlDeviceGetMemoryBusWidth(void*, unsigned* bits) {
  *bits = static_cast<unsigned>(card().memory_bus_bits);
  return 0;
}
Status nvmlDeviceGetClockInfo(void*, int kind, unsigned* mhz) { return give_clock(kind, mhz); }
Status nvmlDeviceGetMaxClockInfo(void*, int kind, unsigned* mhz) { return give_clock(kind, mhz); }
Status nvmlDeviceGetApplicationsClock(void*, int kind, unsigned* mhz) { return give_clock(kind, mhz); }

Status nvmlDeviceGetMemoryInfo(void* device, MemoryInfo* info) {
  info->total = static_cast<unsigned long long>(card().total_bytes);
  info->free = free_bytes_of(device);
  info->used = info->total - info->free;
  return 0;
}
/// `total` is all of `reserved`, `used` and `free` here, and `used` no longer includes what is reserved.
Status nvmlDeviceGetMemoryInfo_v2(void* device, MemoryInfoV2* info) {
  info->total = static_cast<unsigned long long>(card().total_bytes);
  info->reserved = static_cast<unsigned long long>(card().driver_reserved_bytes);
  info->free = free_bytes_of(device);
  info->used = info->total - info->reserved - info->free;
  return 0;
}

Status nvmlDeviceGetComputeRunningProcesses(void* device, unsigned* count, ProcessInfoV1* processes) {
  return give_this_process(device, count, processes);
}
Status nvmlDeviceGetComputeRunningProcesses_v2(void* device, unsigned* count, ProcessInfo* processes) {
  return give_this_process(device, count, processes);
}
Status nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, ProcessInfo* processes) {
  return give_this_process(device, count, processes);
}
Status nvmlDeviceGetGraphicsRunningProcesses_v3(void*, unsigned* count, ProcessInfo*) {
  *count = 0;
  return 0;
}

Status nvmlDeviceGetUtilizationRates(void*, unsigned rates[2]) {
  rates[0] = rates[1] = 0;
  return 0;
}
Status nvmlDeviceGetPerformanceState(void*, int* state) {
  *state = 0;  // NVML_PSTATE_0
  return 0;
}
Status nvmlDeviceGetComputeMode(void*, int* mode) {
  *mode = 0;  // NVML_COMPUTEMODE_DEFAULT
  return 0;
}
Status nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
  if (!has_instances()) return kNotSupported;
  *current = *pending = 0;
  return 0;
}
Status nvmlDeviceIsMigDeviceHandle(void*, unsigned* is_instance) {
  *is_instance = 0;
  return 0;
}
Status nvmlDeviceGetMaxMigDeviceCount(void*, unsigned* count) {
  *count = 0;
  return 0;
}

/// One node of memory and processors, that of the machine which runs us.
Status nvmlDeviceGetNumaNodeId(void*, unsigned* node) {
  *node = 0;
  return 0;
}
Status nvmlDeviceGetCpuAffinity(void*, unsigned words, unsigned long* set) {
  constexpr unsigned kWordBits = 8 * sizeof *set;
  const auto processors = static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF)));
  std::fill_n(set, words, 0UL);
  for (unsigned one = 0; one < std::min(processors, words * kWordBits); ++one)
    set[one / kWordBits] |= 1UL << one % kWordBits;
  return 0;
}
Status nvmlDeviceGetCpuAffinityWithinScope(void* device, unsigned words, unsigned long* set, unsigned) {
  return nvmlDeviceGetCpuAffinity(device, words, set);
}
Status nvmlDeviceGetMemoryAffinity(void*, unsigned words, unsigned long* set, unsigned) {
  std::fill_n(set, words, 0UL);
  if (words) set[0] = 1;
  return 0;
}

/// As cudaDeviceCanAccessPeer has it: no card reaches another's memory.
Status nvmlDeviceGetP2PStatus(void*, void*, int, int* status) {
  *status = 1;  // NVML_P2P_STATUS_CHIPSET_NOT_SUPPORTED
  return 0;
}
Status nvmlDeviceGetGpuFabricInfoV(void*, FabricInfo* info) {
  if (card().compute_capability_major < 9) return kNotSupported;  // "for Hopper or newer" (nvml.h)
  *info = {info->version, {}, 0, 0, 0};  // NVML_GPU_FABRIC_STATE_NOT_SUPPORTED: a card without a fabric manager
  return 0;
}

Status nvmlDeviceGetNvLinkState(void*, unsigned, unsigned*) { return kNotSupported; }
Status nvmlDeviceGetNvLinkVersion(void*, unsigned, unsigned*) { return kNotSupported; }
Status nvmlDeviceGetNvLinkCapability(void*, unsigned, int, unsigned*) { return kNotSupported; }
Status nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int*) { return kNotSupported; }
Status nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*) { return kNotSupported; }
Status nvmlDeviceGetEccMode(void*, int*, int*) { return kNotSupported; }
Status nvmlDeviceGetTotalEccErrors(void*, int, int, unsigned long long*) { return kNotSupported; }
Status nvmlDeviceGetPowerUsage(void*, unsigned*) { return kNotSupported; }
Status nvmlDeviceGetPowerManagementLimit(void*, unsigned*) { return kNotSupported; }
Status nvmlDeviceGetEnforcedPowerLimit(void*, unsigned*) { return kNotSupported; }
Status nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long*) { return kNotSupported; }
Status nvmlDeviceGetTemperature(void*, int, unsigned*) { return kNotSupported; }
Status nvmlDeviceGetFanSpeed(void*, unsigned*) { return kNotSupported; }
Status nvmlDeviceGetSerial(void*, char*, unsigned) { return kNotSupported; }
Status nvmlDeviceGetAttributes_v2(void*, void*) { return kNotSupported; }  // of instances alone
Status nvmlDeviceGetFieldValues(void*, int, void*) { return kNotSupported; }
Status nvmlDeviceGetTopologyCommonAncestor(void*, void*, int*) { return kNotSupported; }
Status nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned*) { return kNotSupported; }
Status nvmlDeviceGetCurrPcieLinkGeneration(void*, unsigned*) { return kNotSupported; }
Status nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned*) { return kNotSupported; }
Status nvmlDeviceGetCurrPcieLinkWidth(void*, unsigned*) { return kNotSupported; }

}  // extern "C"
#pragma GCC visibility pop
