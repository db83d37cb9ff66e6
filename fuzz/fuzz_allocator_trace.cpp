// Any text is a recording or an Error; a recording runs through the allocator, whose blocks then add up to its totals.
#include <cstdint>

#include "base/check.h"
#include "base/error.h"
#include "memory/lower_bound.h"
#include "memory/trace.h"

using namespace tidemark;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Recording recording = read_recording({reinterpret_cast<const char*>(data), size});
    CachingAllocator allocator(recording.config);
    replay(recording.requests, allocator);
    Totals sums;
    for (const auto& block : allocator.snapshot()) {
      sums.reserved_bytes += block.bytes;
      sums.active_bytes += block.active ? block.bytes : 0;
      sums.allocated_bytes += block.allocated ? block.bytes : 0;
    }
    TM_CHECK(sums == allocator.totals(), "the blocks do not add up");
  } catch (const Error&) {
  }
  return 0;
}
