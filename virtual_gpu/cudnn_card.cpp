// The card, described for cuDNN.
#include <cstdio>

#include "card.h"
#include "cudnn_real.h"
#include "device_attributes.h"

namespace tidemark::cudnn {

// The keys are those that libcudnn itself reads and prints (cudnn::backend::DeviceProperty, cuDNN 9.8, 9.10, 9.19: the
// names stand in its messages); each is the CUDA device attribute of nearly the same name.  Keys that a version lacks
// (`deviceName` before 9.10, `maxThreadsPerBlock` before 9.19) it ignores.
std::string describe_card() {
  const Card& c = tidemark::card();
  char text[2048];
  std::snprintf(
      text, sizeof text,
      R"({"cudaDeviceId":0,"deviceName":"%s","deviceVer":%d,"driverVer":%d,)"
      R"("maxGridSize":[%d,%d,%d],"maxBlockSize":[%d,%d,%d],"maxThreadsPerBlock":%d,"maxThreadsPerSM":%d,"maxCtasPerSM":%d,)"
      R"("multiProcessorCount":%d,"smClockRateKHz":%d,"memClockRateKHz":%d,"l2CacheSize":%d,"warpSize":%d,)"
      R"("regsPerBlock":%d,"maxRegistersPerSM":%d,)"
      R"("maxSharedMemoryPerBlock":%d,"maxSharedMemoryPerBlockOptin":%d,"reservedSharedMemoryPerBlock":%d,)"
      R"("pciDeviceId":0,"isTccDriver":0,"supportCoopLaunch":1,"totalGlobalMem":%lld})",
      c.name.c_str(), c.compute_capability_major * 100 + c.compute_capability_minor * 10,
      c.cuda_major * 1000 + c.cuda_minor * 10, tidemark::attribute(5), tidemark::attribute(6), tidemark::attribute(7),
      tidemark::attribute(2), tidemark::attribute(3), tidemark::attribute(4), tidemark::attribute(1),
      c.max_threads_per_multiprocessor, tidemark::attribute(kMaxBlocksPerMultiprocessor), c.multiprocessors,
      c.clock_khz, c.memory_clock_khz, c.l2_bytes, tidemark::attribute(10), tidemark::attribute(kMaxRegistersPerBlock),
      c.registers_per_multiprocessor, c.shared_memory_per_block_bytes, c.shared_memory_per_block_optin_bytes,
      tidemark::attribute(kReservedSharedMemoryPerBlock), static_cast<long long>(c.total_bytes));
  return text;
}

}  // namespace tidemark::cudnn
