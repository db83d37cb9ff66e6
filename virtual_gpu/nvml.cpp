// libnvidia-ml: the library, the system, and the handles of its cards.  nvml_device.cpp has what a card answers.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "card.h"
#include "devices.h"
#include "handles.h"
#include "nvml_devices.h"

using namespace tidemark;
using abi::Status;

namespace tidemark::nvml {
namespace {

/// Handles by index: nvmlDevice_t is a pointer that nobody follows.
std::vector<void*>& handles() {
  static auto* all = [] {
    auto* made = new std::vector<void*>(static_cast<std::size_t>(device_count()));
    for (void*& handle : *made) handle = new_handle();
    return made;
  }();
  return *all;
}

struct DriverRelease {
  int cuda_version;
  const char* driver;
};

/// The driver that each CUDA toolkit came with (CUDA Toolkit 13.1 release notes, "CUDA Toolkit and Corresponding
/// Driver Versions").
constexpr std::array<DriverRelease, 10> kDriverReleases{{{12010, "530.30.02"},
                                                         {12020, "535.54.03"},
                                                         {12030, "545.23.06"},
                                                         {12040, "550.54.14"},
                                                         {12050, "555.42.02"},
                                                         {12060, "560.28.03"},
                                                         {12080, "570.26"},
                                                         {12090, "575.51.03"},
                                                         {13000, "580.65.06"},
                                                         {13010, "590.44.01"}}};

int cuda_version() { return card().cuda_major * 1000 + card().cuda_minor * 10; }

/// The newest known driver that is not newer than CUDA of this torch.
const char* driver_version() {
  const char* found = kDriverReleases.front().driver;
  for (const DriverRelease& release : kDriverReleases)
    if (release.cuda_version <= cuda_version()) found = release.driver;
  return found;
}

const char* error_text(Status status) {
  switch (status) {
    case 0: return "Success";
    case kInvalidArgument: return "Invalid Argument";
    case kNotSupported: return "Not Supported";
    case kNotFound: return "Not Found";
    case kInsufficientSize: return "Insufficient Size";
    default: return "Unknown Error";
  }
}

}  // namespace

Status give_handle(unsigned index, void** device) {
  if (index >= handles().size()) return kInvalidArgument;
  *device = handles()[index];
  return 0;
}

unsigned index_of(const void* device) {
  const auto found = std::find(handles().begin(), handles().end(), device);
  return found == handles().end() ? 0 : static_cast<unsigned>(found - handles().begin());
}

Status give_text(const char* text, char* buffer, std::size_t length) {
  if (std::strlen(text) >= length) return kInsufficientSize;
  std::strcpy(buffer, text);
  return 0;
}

}  // namespace tidemark::nvml

#pragma GCC visibility push(default)
extern "C" {

Status nvmlInit_v2() { return 0; }
Status nvmlInit() { return 0; }
Status nvmlInitWithFlags(unsigned) { return 0; }
Status nvmlShutdown() { return 0; }
const char* nvmlErrorString(Status status) { return nvml::error_text(status); }

Status nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = nvml::cuda_version();
  return 0;
}
Status nvmlSystemGetCudaDriverVersion(int* version) { return nvmlSystemGetCudaDriverVersion_v2(version); }
Status nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return nvml::give_text(nvml::driver_version(), text, length);
}
Status nvmlSystemGetNVMLVersion(char* text, unsigned length) {
  return nvml::give_text((std::to_string(card().cuda_major) + "." + nvml::driver_version()).c_str(), text, length);
}
/// Environment, feature and developer mode (nvmlConfComputeSystemState_t): off.
Status nvmlSystemGetConfComputeState(unsigned state[3]) {
  std::fill_n(state, 3, 0U);
  return 0;
}
Status nvmlSystemGetConfComputeSettings(void*) { return nvml::kNotSupported; }

Status nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(device_count());
  return 0;
}
Status nvmlDeviceGetCount(unsigned* count) { return nvmlDeviceGetCount_v2(count); }
Status nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) { return nvml::give_handle(index, device); }
Status nvmlDeviceGetHandleByIndex(unsigned index, void** device) { return nvml::give_handle(index, device); }
Status nvmlDeviceGetHandleByPciBusId_v2(const char* text, void** device) {
  unsigned domain = 0, bus = 0;
  if (std::sscanf(text, "%x:%x", &domain, &bus) != 2) return nvml::kInvalidArgument;
  return domain == 0 && bus > 0 && nvml::give_handle(bus - 1, device) == 0 ? 0 : nvml::kNotFound;
}
Status nvmlDeviceGetHandleByPciBusId(const char* text, void** device) {
  return nvmlDeviceGetHandleByPciBusId_v2(text, device);
}
Status nvmlDeviceGetHandleByUUID(const char* text, void** device) {
  for (int index = 0; index < device_count(); ++index)
    if (device_uuid_text(index) == text) return nvml::give_handle(static_cast<unsigned>(index), device);
  return nvml::kNotFound;
}
Status nvmlDeviceGetHandleBySerial(const char*, void**) { return nvml::kNotSupported; }
Status nvmlDeviceGetIndex(void* device, unsigned* index) {
  *index = nvml::index_of(device);
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
