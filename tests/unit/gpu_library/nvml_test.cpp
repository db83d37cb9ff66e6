// Layouts and status codes: nvml.h of CUDA 13.0.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "gpu_library/opened_library.h"

namespace tidemark {
namespace {

constexpr int kInvalidArgument = 2, kNotSupported = 3, kNotFound = 6, kInsufficientSize = 7;

void* handle_at(unsigned index) {
  void* device = nullptr;
  EXPECT_EQ(gpu_function<int(unsigned, void**)>("nvmlDeviceGetHandleByIndex_v2")(index, &device), 0);
  return device;
}

std::string text_of(const char* function) {
  char text[96];
  EXPECT_EQ(gpu_function<int(char*, unsigned)>(function)(text, sizeof text), 0);
  return text;
}

unsigned number_of(const char* function) {
  unsigned number = 0;
  EXPECT_EQ(gpu_function<int(void*, unsigned*)>(function)(handle_at(0), &number), 0) << function;
  return number;
}

TEST(Nvml, HandlesAreFoundByIndexUuidAndPci) {
  unsigned count = 0;
  EXPECT_EQ(gpu_function<int(unsigned*)>("nvmlDeviceGetCount")(&count), 0);
  EXPECT_EQ(count, 2U);
  void* found = nullptr;
  EXPECT_EQ(gpu_function<int(unsigned, void**)>("nvmlDeviceGetHandleByIndex")(2, &found), kInvalidArgument);
  char uuid[96];
  ASSERT_EQ(gpu_function<int(void*, char*, unsigned)>("nvmlDeviceGetUUID")(handle_at(1), uuid, sizeof uuid), 0);
  EXPECT_STREQ(uuid, "GPU-74696465-6d61-726b-2d76-69727475616d");
  EXPECT_EQ(gpu_function<int(const char*, void**)>("nvmlDeviceGetHandleByUUID")(uuid, &found), 0);
  EXPECT_EQ(found, handle_at(1));
  EXPECT_EQ(gpu_function<int(const char*, void**)>("nvmlDeviceGetHandleByUUID")("GPU-0", &found), kNotFound);
  EXPECT_EQ(gpu_function<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2")("0000:01:00.0", &found), 0);
  EXPECT_EQ(found, handle_at(0));
  EXPECT_EQ(gpu_function<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2")("0000:07:00.0", &found),
            kNotFound);
}

TEST(Nvml, UuidIsTheDriversToo) {
  unsigned char bytes[16];
  ASSERT_EQ(gpu_function<int(void*, int)>("cuDeviceGetUuid_v2")(bytes, 1), 0);
  EXPECT_EQ(std::memcmp(bytes, "tidemark-virtuam", sizeof bytes), 0);
}

TEST(Nvml, MemoryOfBothVersionsAddsUp) {
  struct {
    unsigned long long total, free, used;
  } first;
  struct {
    unsigned version;
    unsigned long long total, reserved, free, used;
  } second{0x2000028, 0, 0, 0, 0};
  ASSERT_EQ(gpu_function<int(void*, void*)>("nvmlDeviceGetMemoryInfo")(handle_at(0), &first), 0);
  ASSERT_EQ(gpu_function<int(void*, void*)>("nvmlDeviceGetMemoryInfo_v2")(handle_at(0), &second), 0);
  EXPECT_EQ(first.total, 25'256'591'360ULL);
  EXPECT_EQ(first.used, first.total - first.free);
  EXPECT_EQ(second.total, first.total);
  EXPECT_EQ(second.reserved, 134'217'728ULL);
  EXPECT_EQ(second.reserved + second.used + second.free, second.total);
}

TEST(Nvml, CardAnswersByItsFacts) {
  int major = 0, minor = 0;
  ASSERT_EQ(gpu_function<int(void*, int*, int*)>("nvmlDeviceGetCudaComputeCapability")(handle_at(0), &major, &minor),
            0);
  EXPECT_EQ(major * 10 + minor, 89);
  EXPECT_EQ(number_of("nvmlDeviceGetMemoryBusWidth"), 384U);
  EXPECT_EQ(number_of("nvmlDeviceGetNumGpuCores"), 128U * 128);
  EXPECT_EQ(number_of("nvmlDeviceGetArchitecture"), 8U);
  EXPECT_EQ(number_of("nvmlDeviceGetNumaNodeId"), 0U);
  const auto clock = gpu_function<int(void*, int, unsigned*)>("nvmlDeviceGetMaxClockInfo");
  unsigned mhz = 0;
  EXPECT_EQ(clock(handle_at(0), 1, &mhz), 0);
  EXPECT_EQ(mhz, 2520U);
  EXPECT_EQ(clock(handle_at(0), 2, &mhz), 0);
  EXPECT_EQ(mhz, 10501U);
  EXPECT_EQ(clock(handle_at(0), 9, &mhz), kInvalidArgument);
  EXPECT_EQ(text_of("nvmlSystemGetDriverVersion"), "580.65.06");
  EXPECT_EQ(text_of("nvmlSystemGetNVMLVersion"), "13.580.65.06");
  char small[4];
  EXPECT_EQ(gpu_function<int(void*, char*, unsigned)>("nvmlDeviceGetName")(handle_at(0), small, sizeof small),
            kInsufficientSize);
}

TEST(Nvml, PciInfoNamesTheBus) {
  struct {
    char legacy_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char id[32];
  } info;
  ASSERT_EQ(gpu_function<int(void*, void*)>("nvmlDeviceGetPciInfo_v3")(handle_at(1), &info), 0);
  EXPECT_EQ(info.bus, 2U);
  EXPECT_STREQ(info.id, "00000000:02:00.0");
}

TEST(Nvml, ProcessesNeedRoom) {
  struct {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance, compute_instance;
  } process{};
  const auto running = gpu_function<int(void*, unsigned*, void*)>("nvmlDeviceGetComputeRunningProcesses_v3");
  unsigned count = 0;
  EXPECT_EQ(running(handle_at(0), &count, nullptr), kInsufficientSize);
  ASSERT_EQ(count, 1U);
  ASSERT_EQ(running(handle_at(0), &count, &process), 0);
  EXPECT_EQ(process.pid, static_cast<unsigned>(::getpid()));
  EXPECT_GE(process.used_bytes, 400'000'000ULL);
  EXPECT_EQ(process.gpu_instance, 0xffffffffU);
  struct {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned long long behind;
  } first{0, 0, 77};
  ASSERT_EQ(
      gpu_function<int(void*, unsigned*, void*)>("nvmlDeviceGetComputeRunningProcesses")(handle_at(0), &count, &first),
      0);
  EXPECT_EQ(first.behind, 77ULL);  // the first version's structure is shorter
}

TEST(Nvml, ProcessorsAreThoseOfTheMachine) {
  unsigned long set[2] = {0, ~0UL};
  ASSERT_EQ(gpu_function<int(void*, unsigned, unsigned long*)>("nvmlDeviceGetCpuAffinity")(handle_at(0), 2, set), 0);
  EXPECT_EQ(set[0] & 1, 1UL);
  if (::sysconf(_SC_NPROCESSORS_CONF) <= 64) {
    EXPECT_EQ(set[1], 0UL);
  }
}

TEST(Nvml, UnknownOfACardIsNotSupported) {
  unsigned one = 0, two = 0;
  for (const char* name : {"nvmlDeviceGetPowerUsage", "nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetFanSpeed"})
    EXPECT_EQ(gpu_function<int(void*, unsigned*)>(name)(handle_at(0), &one), kNotSupported) << name;
  EXPECT_EQ(gpu_function<int(void*, unsigned*, unsigned*)>("nvmlDeviceGetMigMode")(handle_at(0), &one, &two),
            kNotSupported);
  EXPECT_EQ(gpu_function<int(void*, unsigned, unsigned*)>("nvmlDeviceGetNvLinkState")(handle_at(0), 0, &one),
            kNotSupported);
  EXPECT_STREQ(gpu_function<const char*(int)>("nvmlErrorString")(kNotSupported), "Not Supported");
}

}  // namespace
}  // namespace tidemark
